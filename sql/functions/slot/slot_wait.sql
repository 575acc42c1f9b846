-- Registers an executor as waiting for slots: true if it was not registered yet. Both sides keep Dekker's order: the
-- waiter registers, commits, and only then tries again; the executor that releases slots unlocks them, and only then
-- checks for waiters (slot_unlock). So at least one of the two sees the other. With the registration and the second try
-- in one transaction it would not be so: the releaser could check before the commit, and the wake-up would be lost.
-- false: the registration was there before the first try, so that try counts. The other executors are notified: an
-- executor that keeps idle slots during a barrier that is not its own releases them at once.
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
