-- An operator sets the number of readers that an executor uses of those with which it was started, over all its queues;
-- NULL: all. Running tasks finish. True: it was another number before; otherwise no event is written. One that is
-- draining is refused: it takes no task any more.
CREATE OR REPLACE FUNCTION lockstep.executor_set(executor_id uuid, readers int, reason text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    no CONSTANT int := lockstep.executor_named(executor_set.executor_id);
    most CONSTANT int := (SELECT e.readers FROM lockstep.executor e WHERE e.executor_no = no);
BEGIN
    IF executor_set.readers NOT BETWEEN 0 AND most THEN
        RAISE EXCEPTION 'executor % can use 0 to % readers, not %', executor_set.executor_id, most, executor_set.readers
            USING ERRCODE = 'LS002', HINT = 'Start it with more readers, or start another executor.';
    END IF;
    IF EXISTS (SELECT FROM lockstep.executor e
               WHERE e.executor_no = no AND (e.drain_by IS NOT NULL OR e.signalled = 'draining')) THEN
        RAISE EXCEPTION 'executor % is draining: it takes no task any more', executor_set.executor_id
            USING ERRCODE = 'LS002', HINT = 'Start another executor. To see them: lockstep executor list';
    END IF;
    UPDATE lockstep.executor e SET readers_limit = executor_set.readers
    WHERE e.executor_no = no AND e.readers_limit IS DISTINCT FROM executor_set.readers;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO lockstep.event_log (event, executor_no, detail)
    VALUES ('executor_changed', no,
            concat_ws(': ', format('readers %s of %s', COALESCE(executor_set.readers, most), most), reason));
    PERFORM lockstep.executor_tell(no);
    RETURN true;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executor_set(uuid, int, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.executor_set(uuid, int, text) TO lockstep_operator;
