-- Whether a replay must wait before it hands over tasks of this phase of a run (NULL: they have no rows yet); p_offset:
-- the message. It must if enough phases of the run and of those before it wait to be opened. Those after it do not
-- count: they may be waiting for this run. Executors are notified then: maybe none has a task of these phases.
CREATE OR REPLACE FUNCTION lockstep.replay_full(p_queue_id int, p_run_no bigint, p_phase_id bigint, p_offset bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    most int := (SELECT q.lookahead FROM lockstep.queue q WHERE q.queue_id = p_queue_id);
BEGIN
    IF EXISTS (SELECT FROM lockstep.phase p WHERE p.phase_id = p_phase_id AND p.done_at IS NULL)
       OR lockstep.phases_ahead(
              p_queue_id, most,
              COALESCE((SELECT o.first_offset FROM lockstep.run o WHERE o.run_no = p_run_no), p_offset)) < most THEN
        RETURN false;
    END IF;
    PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'look');
    RETURN true;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_full(int, bigint, bigint, bigint) FROM PUBLIC;
