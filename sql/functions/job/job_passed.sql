-- How many times of a schedule have passed that nothing has decided, in the words of job_missed_words. They are walked
-- over, at most MOST of them; and not for longer than a second of a statement, which may be about all jobs.
CREATE OR REPLACE FUNCTION lockstep.job_passed(p_schedule lockstep.schedule) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    MOST CONSTANT int := 1000;
    LONGEST CONSTANT interval := interval '1 second';
    now CONSTANT timestamptz := clock_timestamp();
    rule CONSTANT lockstep.rule := p_schedule.rule;
    passed bigint := 1;
    last timestamptz := p_schedule.next_at;
    following timestamptz;
BEGIN
    IF rule.kind = 'interval' THEN
        passed := 1 + floor((date_part('epoch', LEAST(now, rule.not_after)) - date_part('epoch', last)) / rule.every);
        RETURN lockstep.job_missed_words(rule, passed, last, last + (passed - 1) * rule.every * interval '1 second');
    END IF;
    WHILE passed < MOST LOOP
        following := lockstep.rule_next(rule, last);
        EXIT WHEN following > now OR following IS NULL;
        passed := passed + 1;
        last := following;
        EXIT WHEN clock_timestamp() > statement_timestamp() + LONGEST;
    END LOOP;
    RETURN lockstep.job_missed_words(rule, passed, p_schedule.next_at, last,
        COALESCE(following <= now, false));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_passed(lockstep.schedule) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_passed(lockstep.schedule)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
