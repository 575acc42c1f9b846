-- The oldest ended run of a queue that none of its settings keeps, one that was begun first; NULL: there is none.
CREATE OR REPLACE FUNCTION lockstep.sweep_next(p_queue_id int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    q record;
    newest bigint; -- this and later ones are kept for their number
    no bigint;
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT b.keep_runs, b.keep_days, b.keep_failed_days INTO STRICT q FROM lockstep.queue b WHERE b.queue_id = p_queue_id;
    SELECT s.run_no INTO no FROM lockstep.run_summary s JOIN lockstep.run r USING (run_no)
    WHERE r.queue_id = p_queue_id AND s.swept_at IS NULL AND s.begun_at IS NOT NULL AND COALESCE(s.look_at <= now, true)
    ORDER BY s.run_no LIMIT 1;
    IF FOUND OR COALESCE(q.keep_runs, q.keep_days, q.keep_failed_days) IS NULL THEN
        RETURN no;
    END IF;
    IF q.keep_runs > 0 THEN
        SELECT r.run_no INTO newest FROM lockstep.run r
        WHERE r.queue_id = p_queue_id AND r.ended_at IS NOT NULL AND NOT r.swept ORDER BY r.run_no DESC OFFSET q.keep_runs - 1 LIMIT 1;
        IF NOT FOUND THEN
            RETURN NULL; -- so many there are not
        END IF;
    END IF;
    SELECT r.run_no INTO no
    FROM lockstep.run r
    WHERE r.queue_id = p_queue_id AND r.ended_at IS NOT NULL AND NOT r.swept AND r.replay_id IS NULL
      AND CASE WHEN q.keep_runs > 0 THEN r.run_no < newest ELSE true END
      AND CASE WHEN q.keep_days IS NOT NULL THEN r.ended_at < now - q.keep_days * interval '1 day' ELSE true END
      -- What did not complete is kept at least as long as the others; with this setting alone the others are kept for ever.
      AND CASE WHEN q.keep_failed_days IS NULL THEN true
               WHEN r.status IN ('Failed', 'PartiallyCompleted') THEN r.ended_at < now - q.keep_failed_days * interval '1 day'
               ELSE COALESCE(q.keep_runs, q.keep_days) IS NOT NULL END
      AND NOT EXISTS (SELECT FROM lockstep.run_summary s WHERE s.run_no = r.run_no AND s.look_at > now)
    ORDER BY r.run_no LIMIT 1;
    RETURN no;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep_next(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep_next(int) TO lockstep_executor;
