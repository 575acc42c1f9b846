-- One firing: decides the schedule that is due and is longest so, in a transaction of its own. Whoever holds the lock of dispatch calls it until nothing is
-- due; what makes it safe is the job's row, which it has locked, and the one occurrence that a scheduled time may have. A job that somebody is changing is
-- passed over for now. p_asks: the caller can run SQL of users now; otherwise what needs it waits.
--   verdict   NULL: nothing is due, wait_ms (NULL: until something happens) is how long; error; otherwise as job_turn
CREATE OR REPLACE FUNCTION lockstep.dispatch(p_by text, p_now timestamptz DEFAULT NULL, p_asks boolean DEFAULT true) RETURNS lockstep.dispatched
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
    SET lock_timeout = '1s' AS $$
DECLARE
    HELD_MS CONSTANT bigint := 200;
    now CONSTANT timestamptz := COALESCE(p_now, clock_timestamp());
    due record;
    next timestamptz;
    nothing lockstep.dispatched;
BEGIN
    SELECT s.schedule_id, s.job_id INTO due
    FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
    WHERE s.is_active AND s.wake_at <= now AND (s.asked_until IS NULL OR s.asked_until <= now) AND (p_asks OR NOT s.uses_sql)
    ORDER BY s.wake_at LIMIT 1 FOR NO KEY UPDATE OF j SKIP LOCKED;
    IF FOUND THEN
        RETURN lockstep.job_turn(due.job_id, due.schedule_id, now, p_by);
    END IF;
    next := LEAST((SELECT s.wake_at FROM lockstep.schedule s
                   WHERE s.is_active AND s.wake_at IS NOT NULL AND s.asked_until IS NULL AND (p_asks OR NOT s.uses_sql) ORDER BY s.wake_at LIMIT 1),
                  (SELECT min(GREATEST(s.wake_at, s.asked_until)) FROM lockstep.schedule s WHERE s.asked_until IS NOT NULL AND s.is_active AND p_asks));
    nothing.wait_ms := CASE WHEN next <= now THEN HELD_MS WHEN next > now THEN LEAST(ceil(date_part('epoch', next - now) * 1000), 2000000000) END;
    RETURN nothing;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch(text, timestamptz, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch(text, timestamptz, boolean) TO lockstep_executor;
