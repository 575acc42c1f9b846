-- An operator lets a run continue that an operator or its own policy has paused. Failed tasks stay failed (run_retry
-- tries them again). If both have paused it, this ends the pause of the operator, and the one of its policy holds: a
-- further call ends that. status: of the run after the call, Paused if the pause of its policy holds.
CREATE OR REPLACE FUNCTION lockstep.run_resume(
    run_id uuid, reason text DEFAULT NULL, queue text DEFAULT NULL, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    no CONSTANT bigint := lockstep.run_named(run_resume.run_id, run_resume.queue);
    own CONSTANT int := (SELECT r.queue_id FROM lockstep.run r WHERE r.run_no = no);
    r record;
BEGIN
    PERFORM FROM lockstep.queue q WHERE q.queue_id = own FOR NO KEY UPDATE;
    PERFORM FROM lockstep.run b WHERE b.run_no = no FOR NO KEY UPDATE;
    -- failed_at: of the pause of its policy, when that one stays
    SELECT b.status, b.paused_by, CASE WHEN b.paused_by IS NOT NULL THEN b.failure_at END AS failed_at
    INTO STRICT r FROM lockstep.run b WHERE b.run_no = no;
    IF r.status <> 'Paused' AND r.paused_by IS NULL THEN
        RAISE EXCEPTION 'run % is not paused: it is %', run_resume.run_id, r.status
            USING ERRCODE = 'LS002', HINT = format('What it waits for: lockstep run explain %s', run_resume.run_id);
    END IF;
    UPDATE lockstep.run SET paused_by = NULL, paused_at = r.failed_at, failure_at = r.failed_at,
        status = CASE WHEN run.status = 'Paused' AND r.failed_at IS NULL THEN 'Running' ELSE run.status END
    WHERE run_no = no;
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail) VALUES ('run_resumed', own, no, reason);
    PERFORM pg_notify('lockstep_' || own, 'control');
    PERFORM lockstep.worker_tell(own);
    status := COALESCE(lockstep.run_finish(no), (SELECT b.status FROM lockstep.run b WHERE b.run_no = no));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_resume(uuid, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_resume(uuid, text, text) TO lockstep_operator;
