-- A run has ended when its end is known, or an operator has cancelled it, and no row is unfinished. The session that
-- claims the end calls this, each executor when its last task of a phase is done, and each executor at start-up: the
-- last caller sees all changes. The answer is the run's status when it has ended, else NULL.
CREATE OR REPLACE FUNCTION lockstep.run_finish(p_run_no bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    run_row record;
    stop bigint;
    result text;
BEGIN
    PERFORM FROM lockstep.queue
    WHERE queue_id = (SELECT queue_id FROM lockstep.run WHERE run_no = p_run_no) FOR NO KEY UPDATE;
    -- A statement of its own: it must see the changes that were committed while this session waited for the row.
    SELECT queue_id, status, end_offset, ended_at, stop_after, aborted, rejected, replay_id, reopened_at, on_failure,
           cancelled_at, stop_kept INTO STRICT run_row FROM lockstep.run WHERE run_no = p_run_no;
    IF run_row.ended_at IS NOT NULL THEN
        RETURN run_row.status;
    END IF;
    IF (run_row.end_offset IS NULL AND run_row.cancelled_at IS NULL) OR run_row.status = 'Paused'
       OR run_row.replay_id IS NOT NULL
       OR EXISTS (
           -- LATERAL and LIMIT here and below: phase by phase, by the index. For a join the planner may read all tasks
           -- of the table.
           SELECT FROM lockstep.phase p
           CROSS JOIN LATERAL (SELECT FROM lockstep.task t
                               WHERE t.phase_id = p.phase_id AND NOT lockstep.is_finished(t.status) LIMIT 1) t
           WHERE p.run_no + 0 = p_run_no AND p.done_at IS NULL) THEN -- by phase_left
        RETURN NULL;
    END IF;
    stop := CASE WHEN run_row.cancelled_at IS NULL THEN run_row.stop_after ELSE run_row.stop_kept END;
    result := CASE
                   -- Unless its end is known and all of it was done before the cancellation could stop a task.
                   WHEN run_row.cancelled_at IS NOT NULL
                        AND (run_row.end_offset IS NULL
                             OR EXISTS (SELECT FROM lockstep.phase p
                                        CROSS JOIN LATERAL (
                                            SELECT FROM lockstep.task t
                                            WHERE t.phase_id = p.phase_id AND t.status IN ('Cancelled', 'Terminated')
                                              AND t.skipped IS NULL
                                            LIMIT 1) t
                                        WHERE p.run_no = p_run_no)
                             OR NOT EXISTS (SELECT FROM lockstep.phase p
                                            CROSS JOIN LATERAL (
                                                SELECT FROM lockstep.task t WHERE t.phase_id = p.phase_id LIMIT 1) t
                                            WHERE p.run_no = p_run_no))
                       THEN 'Cancelled'
                   WHEN stop IS NOT NULL THEN 'Failed'
                   -- A reopening has removed the stop, and not all tasks that the stop had cancelled were run.
                   WHEN run_row.reopened_at IS NOT NULL AND run_row.on_failure = 'stop'
                        AND EXISTS (SELECT FROM lockstep.phase p
                                    CROSS JOIN LATERAL (SELECT FROM lockstep.task t
                                                        WHERE t.phase_id = p.phase_id
                                                          AND (lockstep.is_failed(t.status) OR t.status = 'Cancelled')
                                                          AND t.skipped IS NULL
                                                        LIMIT 1) t
                                    WHERE p.run_no = p_run_no)
                       THEN 'Failed'
                   WHEN run_row.rejected > 0
                        OR EXISTS (SELECT FROM lockstep.phase p
                                   CROSS JOIN LATERAL (
                                       SELECT FROM lockstep.task t
                                       WHERE t.phase_id = p.phase_id
                                         AND (lockstep.is_failed(t.status)
                                              OR (t.status = 'Cancelled' AND t.cancelled_by IS NOT NULL))
                                       LIMIT 1) t
                                   WHERE p.run_no = p_run_no)
                       THEN 'PartiallyCompleted'
                   ELSE 'Completed' END;
    -- In the order of gates, which may have two of its phases, or the run and its first phase: an UPDATE locks rows in
    -- any order.
    PERFORM FROM lockstep.run WHERE run_no = p_run_no FOR NO KEY UPDATE;
    PERFORM FROM lockstep.phase WHERE run_no + 0 = p_run_no AND done_at IS NULL ORDER BY "order" + 0 FOR NO KEY UPDATE;
    UPDATE lockstep.phase SET done_at = pg_catalog.clock_timestamp() WHERE run_no + 0 = p_run_no AND done_at IS NULL;
    UPDATE lockstep.run SET status = result, ended_at = pg_catalog.clock_timestamp() WHERE run_no = p_run_no;
    INSERT INTO lockstep.run_count AS c (queue_id, status, runs) VALUES (run_row.queue_id, result, 1)
    ON CONFLICT (queue_id, status) DO UPDATE SET runs = c.runs + 1; -- the queue's row is locked: one at a time
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
    VALUES ('run_ended', run_row.queue_id, p_run_no, result);
    -- wakes the gate of the next run, and the sessions that wait for the result
    PERFORM pg_catalog.pg_notify('lockstep_' || run_row.queue_id, 'run');
    RETURN result;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.run_finish TO lockstep_executor;
