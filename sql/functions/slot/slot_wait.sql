-- Registers an executor as waiting for slots: true if it was not yet. Dekker's order, on both sides: the waiter
-- registers, commits, and only then tries again; whoever releases unlocks, and only then looks for waiters
-- (slot_unlock). So at least one of the two sees the other. In one transaction with the second try it would not be: the
-- releaser could look before the commit, and the wake-up would be lost. false: the registration was there before the
-- first try, so that one counts. The others are told: who keeps idle slots over a barrier that is not its own gives
-- them back at once.
CREATE OR REPLACE FUNCTION lockstep.slot_wait(p_queue_id int, p_executor_no int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    fresh boolean;
BEGIN
    INSERT INTO lockstep.slot_waiter (queue_id, executor_no) VALUES (p_queue_id, p_executor_no)
    ON CONFLICT (queue_id, executor_no) DO NOTHING;
    fresh := FOUND;
    PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'wanted');
    RETURN fresh;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.slot_wait(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.slot_wait(int, int) TO lockstep_executor;
