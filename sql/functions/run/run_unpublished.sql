-- A run ends, as p_status, because nothing of it came onto the topic, and an event says why. If an operator has
-- cancelled it, it has ended already. If first_offset is set, a claim has met the run nevertheless; then its state
-- belongs to the executors.
CREATE OR REPLACE FUNCTION lockstep.run_unpublished(p_run_no bigint, p_status text, p_why text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    own int;
BEGIN
    PERFORM FROM lockstep.queue
    WHERE queue_id = (SELECT queue_id FROM lockstep.run WHERE run_no = p_run_no) FOR NO KEY UPDATE;
    UPDATE lockstep.run
    SET status = p_status, error = p_why, ended_at = pg_catalog.clock_timestamp(), paused_by = NULL, paused_at = NULL
    WHERE run_no = p_run_no AND ended_at IS NULL AND first_offset IS NULL
    RETURNING queue_id INTO own;
    IF own IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO lockstep.run_count AS c (queue_id, status, runs) VALUES (own, p_status, 1)
    ON CONFLICT (queue_id, status) DO UPDATE SET runs = c.runs + 1; -- the queue's row is locked: one at a time
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail) VALUES ('publish_failed', own, p_run_no, p_why);
    PERFORM pg_catalog.pg_notify('lockstep_' || own, 'run'); -- wakes the sessions that wait for the result
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_unpublished(bigint, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_unpublished(bigint, text, text) TO lockstep_executor;
