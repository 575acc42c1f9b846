-- A phase that is being filled gets external or conditional tasks, maybe its first ones. If all of its tasks were
-- cancelled so far, it was done; with a task that is spared it is not done any more. No task is claimed behind it yet.
-- The workers and executors that wait for such tasks are notified. See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_widen(
    p_phase_id bigint, p_external boolean, p_conditional boolean, p_spared boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own record;
BEGIN
    UPDATE lockstep.phase p
    SET external = p.external OR p_external, conditional = p.conditional OR p_conditional,
        done_at = CASE WHEN NOT p_spared OR p.opened_at IS NOT NULL THEN p.done_at END
    WHERE p.phase_id = p_phase_id
      AND (p.external <> (p.external OR p_external) OR p.conditional <> (p.conditional OR p_conditional)
           OR (p_spared AND p.done_at IS NOT NULL));
    SELECT q.queue_id, q.name, p.opened_at INTO own
    FROM lockstep.phase p JOIN lockstep.queue q USING (queue_id) WHERE p.phase_id = p_phase_id;
    IF p_spared THEN
        PERFORM pg_catalog.pg_notify('lockstep_' || own.queue_id, 'work');
    END IF;
    IF p_external AND own.opened_at IS NOT NULL THEN
        PERFORM pg_catalog.pg_notify('lockstep_external', own.name);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.claim_widen(bigint, boolean, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.claim_widen(bigint, boolean, boolean, boolean) TO lockstep_executor;
