-- An executor that wants no slot any more takes its registration back. Whoever was notified meanwhile and wants nothing
-- either loses nothing: the slot is free, and the next one who wants it tries before it waits.
CREATE OR REPLACE FUNCTION lockstep.slot_unwait(p_queue_id int, p_executor_no int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lockstep.slot_waiter w WHERE w.queue_id = p_queue_id AND w.executor_no = p_executor_no;
    RETURN FOUND;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.slot_unwait(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.slot_unwait(int, int) TO lockstep_executor;
