-- An operator has an executor end as SIGTERM does: it claims nothing more, returns what it has not started, lets what
-- runs finish (up to its drain_timeout) and exits with 0. One that is draining already is refused.
CREATE OR REPLACE FUNCTION lockstep.executor_drain(executor_id uuid, reason text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    no CONSTANT int := lockstep.executor_named(executor_drain.executor_id);
    already text;
BEGIN
    SELECT e.drain_by INTO already FROM lockstep.executor e WHERE e.executor_no = no FOR NO KEY UPDATE;
    IF already IS NOT NULL THEN
        RAISE EXCEPTION 'executor % is draining already, for %', executor_drain.executor_id, already
            USING ERRCODE = 'LS002', HINT = 'Wait until its tasks have finished: lockstep executor list';
    END IF;
    UPDATE lockstep.executor e SET drain_by = lockstep.actor(), drain_at = clock_timestamp() WHERE e.executor_no = no;
    INSERT INTO lockstep.event_log (event, executor_no, detail) VALUES ('executor_drain', no, reason);
    PERFORM lockstep.executor_tell(no);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executor_drain(uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.executor_drain(uuid, text) TO lockstep_operator;
