-- The seconds after which task p_task_id is tried again when an attempt ended by no fault of the task: longer each
-- time, without end. p_lost: its attempts that count as lost; the others that are Pending in the record of its attempts
-- ended by no fault of the task either. Those before an operator's retry do not count: lost_num is 0 behind it.
CREATE OR REPLACE FUNCTION lockstep.put_off(p_task_id bigint, p_lost int) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT (ARRAY[1, 10, 60, 300, 600])[LEAST(GREATEST(pg_catalog.count(*) - p_lost, 0) + 1, 5)]
    FROM lockstep.task_attempt a
    WHERE a.task_id = p_task_id AND a.status = 'Pending'
      AND a.attempt > (SELECT lockstep.attempts_done(p_task_id)) -- once, not for each row
$$;
REVOKE EXECUTE ON FUNCTION lockstep.put_off(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.put_off(bigint, int) TO lockstep_executor;
