-- A task of this order is finally failed: the run's policy decides. Called under the lock of the queue's row, in the
-- transaction that records the failure, so that a gate that finds the phase finished finds this, too.
CREATE OR REPLACE FUNCTION lockstep.run_fail(p_run_no bigint, p_order bigint, p_why text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    policy text;
BEGIN
    SELECT on_failure INTO STRICT policy FROM lockstep.run WHERE run_no = p_run_no;
    IF policy = 'stop' THEN
        PERFORM lockstep.run_stop(p_run_no, p_order, p_why);
        RETURN;
    END IF;
    UPDATE lockstep.run SET error = COALESCE(error, p_why) WHERE run_no = p_run_no;
    IF policy = 'pause' THEN
        -- If an operator has paused it already, both pauses hold: run_resume ends one of them.
        UPDATE lockstep.run r
        SET status = 'Paused', paused_at = COALESCE(paused_at, pg_catalog.clock_timestamp()),
            failure_at = pg_catalog.clock_timestamp(),
            parked_order = CASE WHEN implicit
                                     OR (SELECT q.runs FROM lockstep.queue q WHERE q.queue_id = r.queue_id) = 'serial'
                                    THEN parked_order
                                ELSE last_order END
        WHERE run_no = p_run_no AND status IN ('Running', 'Paused') AND failure_at IS NULL AND cancelled_at IS NULL;
        IF FOUND THEN
            -- those behind it may have room in the lookahead now
            PERFORM pg_catalog.pg_notify('lockstep_' || r.queue_id, 'run')
            FROM lockstep.run r WHERE r.run_no = p_run_no AND r.parked_order IS NOT NULL;
            INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
            SELECT 'run_paused', r.queue_id, p_run_no, 'on_failure = pause: ' || p_why
            FROM lockstep.run r WHERE r.run_no = p_run_no;
        END IF;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.run_fail TO lockstep_executor;
