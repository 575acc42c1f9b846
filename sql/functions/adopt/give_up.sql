-- Ends tasks without a living owner that are not to be tried again. Tasks that were lost too often (queue.max_lost) are
-- finally failed, because a task that ends its server or its executor each time must not continue without end. Tasks
-- that an operator has cancelled, by themselves or with their run, become Cancelled or Terminated. The queue's row is
-- locked first, as for every change of a run.
CREATE OR REPLACE FUNCTION lockstep.give_up(p_queue_id int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    living int[];
    task_row record;
    cancelled bigint[];
    runs bigint[];
    given bigint[] := '{}'; -- the runs of those that were lost too often
    count bigint := 0;
BEGIN
    count := lockstep.worker_expire(p_queue_id);
    -- Two questions, because there is an index for the first, and hardly ever a run for the second.
    -- LATERAL and LIMIT as in run_finish.
    IF NOT EXISTS (SELECT FROM lockstep.queue q
                   JOIN lockstep.phase p USING (queue_id)
                   CROSS JOIN LATERAL (SELECT FROM lockstep.task k
                                       WHERE k.phase_id = p.phase_id AND (k.lost_num > 0 OR k.cancelled_by IS NOT NULL)
                                         AND lockstep.is_ownable(k.status)
                                         AND (k.lost_num >= q.max_lost OR k.cancelled_by IS NOT NULL)
                                       LIMIT 1) k
                   WHERE q.queue_id = p_queue_id AND p.done_at IS NULL)
       AND NOT (EXISTS (SELECT FROM lockstep.run r
                        WHERE r.queue_id = p_queue_id AND r.ended_at IS NULL AND r.cancelled_at IS NOT NULL)
                AND EXISTS (SELECT FROM lockstep.run r
                            JOIN lockstep.phase p USING (run_no)
                            CROSS JOIN LATERAL (SELECT FROM lockstep.task k
                                                WHERE k.phase_id = p.phase_id AND lockstep.is_ownable(k.status)
                                                LIMIT 1) k
                            WHERE r.queue_id = p_queue_id AND r.ended_at IS NULL AND r.cancelled_at IS NOT NULL
                              AND p.done_at IS NULL)) THEN
        RETURN count;
    END IF;
    PERFORM FROM lockstep.queue WHERE queue_id = p_queue_id FOR NO KEY UPDATE;
    -- All runs, in one order, before any phase of one: a gate has its run when it asks for the last phase of the run
    -- before.
    PERFORM FROM lockstep.run r
    WHERE r.run_no = ANY (ARRAY(SELECT u.run_no
                                FROM lockstep.run u
                                WHERE u.queue_id = p_queue_id AND u.ended_at IS NULL
                                  AND (u.cancelled_at IS NOT NULL
                                       OR (SELECT true
                                           FROM lockstep.phase p
                                           CROSS JOIN LATERAL (SELECT FROM lockstep.task k
                                                               WHERE k.phase_id = p.phase_id
                                                                 AND (k.lost_num > 0 OR k.cancelled_by IS NOT NULL)
                                                                 AND lockstep.is_ownable(k.status)
                                                               LIMIT 1) k
                                           WHERE p.run_no = u.run_no AND p.done_at IS NULL LIMIT 1))))
    ORDER BY r.run_no FOR NO KEY UPDATE;
    living := lockstep.executors_living();
    -- Skipped: a row that an external worker is reporting at this moment; it needs the queue's row to commit.
    SELECT pg_catalog.array_agg(c.task_id), pg_catalog.array_agg(DISTINCT c.run_no) INTO cancelled, runs
    FROM (SELECT k.task_id, k.run_no
          FROM lockstep.phase p JOIN lockstep.task k USING (phase_id) JOIN lockstep.run r ON r.run_no = p.run_no
          WHERE p.queue_id = p_queue_id AND p.done_at IS NULL
            AND (k.cancelled_by IS NOT NULL OR r.cancelled_at IS NOT NULL) AND lockstep.is_ownable(k.status)
            AND (k.executor_no IS NULL OR k.executor_no <> ALL (living))
          ORDER BY k.task_id + 0 FOR NO KEY UPDATE OF k SKIP LOCKED) AS c; -- + 0: see run_cancel
    IF cancelled IS NOT NULL THEN
        count := count + lockstep.task_stopped(cancelled);
        PERFORM lockstep.run_finish(n) FROM pg_catalog.unnest(runs) AS n; -- no executor had them, so none releases them
        PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'run'); -- gates behind a phase that is finished now
    END IF;
    FOR task_row IN
        SELECT k.task_id, k.run_no, k."order", k.phase_id, k.attempt_num, k.lost_num
        FROM lockstep.phase p JOIN lockstep.task k USING (phase_id) JOIN lockstep.queue q ON q.queue_id = p_queue_id
        WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND k.lost_num >= q.max_lost
          AND (k.type <> 'external' OR k.status <> 'Processing') -- its lease decides
          AND lockstep.is_ownable(k.status) AND (k.executor_no IS NULL OR k.executor_no <> ALL (living))
        ORDER BY k.task_id + 0 FOR NO KEY UPDATE OF k SKIP LOCKED
    LOOP
        -- The loop has read ahead: the failure of one task may have cancelled the next one.
        UPDATE lockstep.task
        SET status = 'Failed', token = NULL,
            error = pg_catalog.format('given up: %s attempts were lost', task_row.lost_num),
            updated_at = pg_catalog.clock_timestamp()
        WHERE task_id = task_row.task_id AND lockstep.is_ownable(status);
        CONTINUE WHEN NOT FOUND;
        INSERT INTO lockstep.task_attempt (task_id, attempt, status, ended_at, error)
        VALUES (task_row.task_id, task_row.attempt_num, 'Failed', pg_catalog.clock_timestamp(),
                pg_catalog.format('given up: %s attempts were lost', task_row.lost_num))
        ON CONFLICT (task_id, attempt) DO UPDATE SET status = 'Failed', error = EXCLUDED.error;
        INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, detail)
        VALUES ('task_failed', p_queue_id, task_row.run_no, task_row.phase_id, task_row.task_id,
                pg_catalog.format('given up: %s attempts were lost', task_row.lost_num));
        PERFORM lockstep.run_fail(task_row.run_no, task_row."order",
                                  pg_catalog.format('task %s of order %s was lost %s times', task_row.task_id,
                                                    task_row."order", task_row.lost_num));
        count := count + 1;
        given := pg_catalog.array_append(pg_catalog.array_remove(given, task_row.run_no), task_row.run_no);
    END LOOP;
    IF given <> '{}' THEN -- no executor had them, so none releases them
        PERFORM lockstep.run_finish(n) FROM pg_catalog.unnest(given) AS n;
        PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'run');
    END IF;
    RETURN count;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.give_up(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.give_up(int) TO lockstep_executor;
