-- Second half of the release of slots: unlocks them, then (in a statement of its own, with a snapshot from after the
-- unlock: see slot_wait) wakes the queue's listeners if another executor waits for one. The answer is the number that
-- this session did hold.
CREATE OR REPLACE FUNCTION lockstep.slot_unlock(p_queue_id int, p_executor_no int, p_slot_nos int[]) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    given_back int;
BEGIN
    SELECT pg_catalog.count(*) FILTER (WHERE u.held) INTO given_back
    FROM (SELECT pg_catalog.pg_advisory_unlock(lockstep.lock_class('slot'), s.slot_id) AS held
          FROM lockstep.slot s
          WHERE s.queue_id = p_queue_id AND s.slot_no = ANY (p_slot_nos)) u;
    IF EXISTS (SELECT FROM lockstep.slot_waiter w WHERE w.queue_id = p_queue_id AND w.executor_no <> p_executor_no) THEN
        PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'slot');
    END IF;
    RETURN given_back;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.slot_unlock(int, int, int[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.slot_unlock(int, int, int[]) TO lockstep_executor;
