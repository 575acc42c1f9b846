-- Writes the lines of openings to the log, and notifies the executors that were refused a claim because too many phases
-- were ahead or because other executors had the last phase (lockstep.claim). No task waits for this: it has a
-- transaction of its own, behind the openings, all of one queue. If its caller dies in between, the refused executors
-- notice that death and claim again.
CREATE OR REPLACE FUNCTION lockstep.opened(p_phase_ids bigint[], p_executor_no int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own_queue int;
BEGIN
    WITH notified AS (
        INSERT INTO lockstep.event_log (at, event, queue_id, run_no, phase_id, executor_no, detail)
        SELECT COALESCE(p.opened_at, pg_catalog.clock_timestamp()), 'phase_opened', p.queue_id, p.run_no, p.phase_id,
               p_executor_no, pg_catalog.format('order %s', p."order")
        FROM lockstep.phase p
        WHERE p.phase_id = ANY (p_phase_ids)
        ORDER BY p.phase_id RETURNING queue_id)
    SELECT queue_id INTO own_queue FROM notified LIMIT 1;
    IF FOUND THEN
        PERFORM pg_catalog.pg_notify('lockstep_' || own_queue, 'opened');
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.opened(bigint[], int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.opened(bigint[], int) TO lockstep_executor;
