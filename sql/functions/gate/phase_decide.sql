-- A phase opens: all earlier tasks are finished, so it is known whether one of them failed. If so, the tasks of the
-- phase whose condition is failure may be taken; if not, they are Cancelled. No executor owns them before (see claim
-- and adopt). The caller opens the phase in the same transaction.
CREATE OR REPLACE FUNCTION lockstep.phase_decide(p_phase_id bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    phase_row record;
BEGIN
    SELECT h.run_no, h.queue_id, h."order" INTO STRICT phase_row FROM lockstep.phase h WHERE h.phase_id = p_phase_id;
    IF lockstep.run_failed_before(phase_row.run_no, phase_row."order") THEN
        PERFORM pg_catalog.pg_notify('lockstep_' || phase_row.queue_id, 'work');
        RETURN;
    END IF;
    PERFORM FROM lockstep.task t
    WHERE t.phase_id = p_phase_id AND t.condition = 'failure' ORDER BY t.task_id FOR NO KEY UPDATE;
    UPDATE lockstep.task t
    SET status = 'Cancelled', token = NULL, executor_no = NULL, skipped = 'condition',
        error = 'not needed: nothing before it failed', scheduled_for = NULL, updated_at = pg_catalog.clock_timestamp()
    WHERE t.phase_id = p_phase_id AND t.condition = 'failure' AND lockstep.is_unstarted(t.status);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.phase_decide(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.phase_decide(bigint) TO lockstep_executor;
