-- The outcome of a notice that lockstep.notice_claim gave. p_error NULL: it was delivered, and the other notices that
-- wait for this receiver are tried at once. Otherwise it is tried again after 2, 4, 8 ... 600 seconds, or when the
-- receiver asks for it (p_retry_s), unless another monitor has claimed it since. wait_s: until then; NULL: this monitor
-- does not try it again.
CREATE OR REPLACE FUNCTION lockstep.notice_sent(
    p_notice bigint, p_attempt int, p_error text, p_retry_s int DEFAULT NULL)
RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT lockstep.notice_start(n.receiver) FROM lockstep.job_notice n
    WHERE n.notice_id = p_notice AND n.delivered_at IS NULL AND p_error IS NULL;
    UPDATE lockstep.job_notice n
    SET delivered_at = CASE WHEN p_error IS NULL THEN clock_timestamp() END, error = left(p_error, 2000),
        due_at = clock_timestamp() + w.wait_s * interval '1 second', is_claimed = false
    FROM (SELECT GREATEST(LEAST(2 ^ LEAST(p_attempt, 10), 600)::int, LEAST(COALESCE(p_retry_s, 0), 3600)) AS wait_s) w
    WHERE n.notice_id = p_notice AND n.delivered_at IS NULL AND (p_error IS NULL OR n.attempts = p_attempt)
    RETURNING CASE WHEN p_error IS NOT NULL THEN w.wait_s END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.notice_sent(bigint, int, text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.notice_sent(bigint, int, text, int) TO lockstep_operator;
