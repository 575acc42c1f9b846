-- The run of a queue that retention deletes next: a run that was begun, else the oldest ended run behind p_after that
-- no setting keeps and of which no record is still to be sent. Its row is locked; a run that another session has locked
-- is skipped. NULL: there is none, or the queue is halted: then it is unknown whether its rows are still needed.
CREATE OR REPLACE FUNCTION lockstep.sweep_next(p_queue_id int, p_after bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    queue_row record;
    newest bigint; -- this and later ones are kept for their number
    no bigint;
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT b.keep_runs, b.keep_days, b.keep_failed_days INTO queue_row
    FROM lockstep.queue b
    WHERE b.queue_id = p_queue_id AND b.halted_reason IS NULL
      AND COALESCE(b.keep_runs, b.keep_days, b.keep_failed_days) IS NOT NULL;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT r.run_no INTO no FROM lockstep.run_summary s JOIN lockstep.run r USING (run_no)
    WHERE r.queue_id = p_queue_id AND s.swept_at IS NULL AND s.begun_at IS NOT NULL AND COALESCE(s.look_at <= now, true)
      AND r.ended_at IS NOT NULL AND r.replay_id IS NULL
    ORDER BY s.run_no LIMIT 1 FOR NO KEY UPDATE OF r SKIP LOCKED;
    IF FOUND THEN
        RETURN no;
    END IF;
    -- By run_unswept. BETWEEN, and the queue in ORDER BY: this order the primary key does not have. By that one the
    -- planner would go through the runs of all queues when it takes those of this one for many.
    IF queue_row.keep_runs IS NOT NULL THEN
        SELECT r.run_no INTO newest FROM lockstep.run r
        WHERE r.queue_id::bigint BETWEEN p_queue_id AND p_queue_id AND r.ended_at IS NOT NULL AND NOT r.swept
        ORDER BY r.queue_id::bigint DESC, r.run_no DESC OFFSET queue_row.keep_runs - 1 LIMIT 1;
        IF NOT FOUND THEN
            RETURN NULL; -- so many there are not
        END IF;
    END IF;
    SELECT r.run_no INTO no
    FROM lockstep.run r
    WHERE r.queue_id::bigint BETWEEN p_queue_id AND p_queue_id AND r.run_no > p_after AND r.ended_at IS NOT NULL
      AND NOT r.swept AND r.replay_id IS NULL AND (queue_row.keep_runs IS NULL OR r.run_no < newest)
      AND (queue_row.keep_days IS NULL OR r.ended_at < now - queue_row.keep_days * interval '1 day')
      -- A run that did not complete is kept at least as long as the others; with this setting alone the others are kept
      -- without limit.
      AND CASE WHEN queue_row.keep_failed_days IS NULL THEN true
               WHEN r.status <> 'Completed' THEN r.ended_at < now - queue_row.keep_failed_days * interval '1 day'
               ELSE COALESCE(queue_row.keep_runs, queue_row.keep_days) IS NOT NULL END
      AND (SELECT s.run_no FROM lockstep.run_summary s WHERE s.run_no = r.run_no AND s.look_at > now) IS NULL
      AND NOT lockstep.sweep_waits(r.run_no)
    ORDER BY r.queue_id::bigint, r.run_no LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    RETURN no;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep_next(int, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep_next(int, bigint) TO lockstep_executor;
