-- Tasks that were lost too often (queue.max_lost) and have no living owner are finally failed: a task that ends its server or
-- its executor each time must not go on for ever. The queue's row first, as for every change of a run.
CREATE OR REPLACE FUNCTION lockstep.give_up(p_queue_id int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    living int[];
    t record;
    count bigint := 0;
BEGIN
    IF NOT EXISTS (SELECT FROM lockstep.phase p JOIN lockstep.task k USING (phase_id) JOIN lockstep.queue q ON q.queue_id = p_queue_id
                   WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND k.lost_num >= q.max_lost
                     AND k.status IN ('Pending', 'Processing', 'Error')) THEN
        RETURN 0;
    END IF;
    PERFORM FROM lockstep.queue WHERE queue_id = p_queue_id FOR NO KEY UPDATE;
    living := lockstep.executors_living();
    FOR t IN SELECT k.task_id, k.run_no, k."order", k.phase_id, k.attempt_num, k.lost_num
             FROM lockstep.phase p JOIN lockstep.task k USING (phase_id) JOIN lockstep.queue q ON q.queue_id = p_queue_id
             WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND k.lost_num >= q.max_lost
               AND k.status IN ('Pending', 'Processing', 'Error') AND (k.executor_no IS NULL OR k.executor_no <> ALL (living))
             ORDER BY k.task_id FOR NO KEY UPDATE OF k LOOP
        UPDATE lockstep.task
        SET status = 'Failed', token = NULL, error = pg_catalog.format('given up: %s attempts were lost', t.lost_num),
            updated_at = pg_catalog.clock_timestamp()
        WHERE task_id = t.task_id;
        INSERT INTO lockstep.task_attempt (task_id, attempt, status, ended_at, error)
        VALUES (t.task_id, t.attempt_num, 'Failed', pg_catalog.clock_timestamp(), pg_catalog.format('given up: %s attempts were lost', t.lost_num))
        ON CONFLICT (task_id, attempt) DO UPDATE SET status = 'Failed', error = EXCLUDED.error;
        INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, detail)
        VALUES ('task_failed', p_queue_id, t.run_no, t.phase_id, t.task_id, pg_catalog.format('given up: %s attempts were lost', t.lost_num));
        PERFORM lockstep.run_fail(t.run_no, t."order", pg_catalog.format('task %s of order %s was lost %s times', t.task_id, t."order", t.lost_num));
        count := count + 1;
    END LOOP;
    RETURN count;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.give_up(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.give_up(int) TO lockstep_executor;
