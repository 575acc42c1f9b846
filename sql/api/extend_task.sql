-- An external worker says that it still works on a task: the lease runs for this long from now on (but never beyond the
-- time-out that the message sets). Returns the new updated_at, the token of the next call. A stale token raises LS001.
CREATE OR REPLACE FUNCTION lockstep.extend_task(task_id bigint, updated_at timestamptz, lease interval)
RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    t CONSTANT lockstep.task := lockstep.worker_held(extend_task.task_id, extend_task.updated_at);
    made timestamptz;
BEGIN
    IF extend_task.lease IS NULL OR extend_task.lease NOT BETWEEN interval '1 second' AND interval '1000 hours' THEN
        RAISE EXCEPTION 'a lease is between 1 second and 1000 hours, not %', COALESCE(extend_task.lease::text, 'NULL')
            USING ERRCODE = 'LS002';
    END IF;
    UPDATE lockstep.task k
    SET lease_until = LEAST(clock_timestamp() + extend_task.lease,
                            k.started_at + (k.payload::json ->> 'timeout')::float8 * interval '1 second'),
        updated_at = GREATEST(clock_timestamp(), k.updated_at + interval '1 microsecond')
    WHERE k.task_id = t.task_id
    RETURNING k.updated_at INTO made;
    RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.extend_task(bigint, timestamptz, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.extend_task(bigint, timestamptz, interval) TO lockstep_worker;
