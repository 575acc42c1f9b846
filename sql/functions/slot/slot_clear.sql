-- First half of the release of slots: their rows name no backend any more. It commits before the second half
-- (slot_unlock): an unlock acts at once, a row at its commit. In the other order, or in one transaction, the next
-- holder would still read the name of the old reader, which lives on idle, and refuse the slot. The executor calls this
-- when these readers run nothing.
CREATE OR REPLACE FUNCTION lockstep.slot_clear(p_queue_id int, p_executor_no int, p_slot_nos int[]) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    cleared int;
BEGIN
    UPDATE lockstep.slot s SET executor_no = NULL, pid = NULL, backend_start = NULL, taken_at = NULL
    WHERE s.queue_id = p_queue_id AND s.slot_no = ANY (p_slot_nos) AND s.executor_no = p_executor_no;
    GET DIAGNOSTICS cleared = ROW_COUNT;
    RETURN cleared;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.slot_clear(int, int, int[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.slot_clear(int, int, int[]) TO lockstep_executor;
