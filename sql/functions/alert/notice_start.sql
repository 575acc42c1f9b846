-- The notices that wait for their next attempt at [alert:p_receiver] are tried at once, the oldest first: its receiver
-- has answered, or a monitor starts. One that is being sent is left alone. SKIP LOCKED: another monitor does the same.
CREATE OR REPLACE FUNCTION lockstep.notice_start(p_receiver text) RETURNS int
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH waits AS (
        SELECT n.notice_id FROM lockstep.job_notice n
        WHERE n.receiver = p_receiver AND n.delivered_at IS NULL AND NOT n.is_claimed AND n.due_at > clock_timestamp()
        ORDER BY n.notice_id FOR NO KEY UPDATE SKIP LOCKED
    ), early AS (
        UPDATE lockstep.job_notice n SET due_at = now() FROM waits w WHERE n.notice_id = w.notice_id RETURNING 1
    )
    SELECT count(*)::int FROM early
$$;
REVOKE EXECUTE ON FUNCTION lockstep.notice_start(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.notice_start(text) TO lockstep_operator;
