-- What follows an opening and keeps no task waiting: the line in the log, and a word to whoever was refused a claim because too many
-- phases were ahead, or others had the last one (lockstep.claim). In a transaction of its own, behind the one that opened; if its caller
-- dies in between, those that are refused hear of that death and come again.
CREATE OR REPLACE FUNCTION lockstep.opened(p_phase_id bigint, p_executor_no int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own_queue int;
BEGIN
    INSERT INTO lockstep.event_log (at, event, queue_id, run_no, phase_id, executor_no, detail)
    SELECT COALESCE(p.opened_at, pg_catalog.clock_timestamp()), 'phase_opened', p.queue_id, p.run_no, p.phase_id, p_executor_no,
           pg_catalog.format('order %s', p."order")
    FROM lockstep.phase p WHERE p.phase_id = p_phase_id
    RETURNING queue_id INTO own_queue;
    IF FOUND THEN
        PERFORM pg_catalog.pg_notify('lockstep_' || own_queue, 'opened');
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.opened(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.opened(bigint, int) TO lockstep_executor;
