-- The decision about a trigger at p_now: the part of job_decide for triggers, with the same answer. A look that was
-- taken since next_at decides; without one the verdict is look. The first of threshold, idle and debounce that holds
-- fires, and is named in the reason.
CREATE OR REPLACE FUNCTION lockstep.job_decide_rows(
    p_job lockstep.job, p_schedule lockstep.schedule, p_now timestamptz, p_open_reason text, OUT verdict text,
    OUT reason text, OUT scheduled_for timestamptz, OUT missed_from timestamptz, OUT missed_count int,
    OUT next_at timestamptz, OUT wake_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    SHORTEST CONSTANT interval := interval '1 second';
    -- pause after looks that failed, where check_every is not longer
    LONGEST CONSTANT interval := interval '5 minutes';
    rule CONSTANT lockstep.rows_rule := p_schedule.rows_rule;
    look CONSTANT lockstep.rows_look := p_schedule.look;
    count CONSTANT text := CASE WHEN look.rows > COALESCE(rule.threshold, 1000)
                                    THEN COALESCE(rule.threshold, 1000) || '+'
                                ELSE look.rows::text END
                           || CASE look.rows WHEN 1 THEN ' row' ELSE ' rows' END;
    oldest CONSTANT interval := p_now - look.oldest_at;
    newest CONSTANT interval := p_now - look.newest_at;
BEGIN
    missed_count := 0;
    verdict := 'wait';
    next_at := p_schedule.next_at;
    wake_at := next_at;
    IF p_open_reason IS NOT NULL AND p_job.overlap <> 'allow' THEN
        reason := p_open_reason;
        wake_at := GREATEST(next_at, p_now + rule.check_every);
        RETURN;
    ELSIF next_at > p_now THEN
        reason := pg_catalog.format('its next look is at %s',
                                    lockstep.job_time(pg_catalog.date_trunc('second', next_at)));
        RETURN;
    ELSIF look.at IS NULL OR look.at < next_at THEN
        verdict := 'look';
        reason := 'it is time to look';
        RETURN;
    END IF;
    next_at := p_now + rule.check_every;
    IF look.error IS NOT NULL THEN
        reason := look.error;
        next_at := p_now + LEAST(GREATEST(rule.check_every, SHORTEST) * (2 ^ LEAST(look.failures, 20)),
                                 GREATEST(rule.check_every, LONGEST));
    ELSIF look.rows = 0 THEN
        reason := 'no row waits';
    ELSIF p_now < p_schedule.fired_at + rule.min_between THEN
        next_at := p_schedule.fired_at + rule.min_between;
        reason := pg_catalog.format('%s wait, and it has fired less than %s ago', count, rule.min_between);
    ELSIF look.rows >= rule.threshold THEN
        verdict := 'fire';
        reason := pg_catalog.format('trigger: %s (threshold %s)', count, rule.threshold);
    ELSIF oldest >= rule.idle THEN
        verdict := 'fire';
        reason := pg_catalog.format('trigger: %s, the oldest of them for %s (idle %s)', count,
                                    pg_catalog.date_trunc('second', oldest), rule.idle);
    ELSIF newest >= rule.debounce THEN
        verdict := 'fire';
        reason := pg_catalog.format('trigger: %s, none of them newer than %s (debounce %s)', count,
                                    pg_catalog.date_trunc('second', newest), rule.debounce);
    ELSIF oldest >= rule.max_wait THEN
        verdict := 'fire';
        reason := pg_catalog.format('trigger: %s, the oldest of them for %s (max_wait %s)', count,
                                    pg_catalog.date_trunc('second', oldest), rule.max_wait);
    ELSE
        reason := pg_catalog.concat_ws(
            '; ', count || CASE look.rows WHEN 1 THEN ' waits' ELSE ' wait' END, 'threshold ' || rule.threshold,
            'the oldest since ' || pg_catalog.date_trunc('second', oldest) || ', idle ' || rule.idle,
            'the newest since ' || pg_catalog.date_trunc('second', newest) || ', debounce ' || rule.debounce,
            'max_wait ' || rule.max_wait);
        next_at := GREATEST(p_now + SHORTEST,
                            LEAST(next_at, look.oldest_at + rule.idle, look.newest_at + rule.debounce,
                                  look.oldest_at + rule.max_wait));
    END IF;
    scheduled_for := CASE verdict WHEN 'fire' THEN look.at END;
    wake_at := next_at;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_decide_rows(lockstep.job, lockstep.schedule, timestamptz, text) FROM PUBLIC;
