-- What the next cycle of the dispatcher does with each schedule of a job, and why; nothing is changed. now: at that time instead. The same decision as the
-- dispatcher's (lockstep.job_decide). tasks: what would be published.
CREATE OR REPLACE FUNCTION lockstep.job_test(job text, now timestamptz DEFAULT NULL)
RETURNS TABLE (schedule text, would_fire boolean, verdict text, reason text, scheduled_for timestamptz, next_scheduled_run timestamptz, tasks jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(job_test.job);
    moment CONSTANT timestamptz := COALESCE(job_test.now, clock_timestamp());
    one lockstep.schedule;
    decided record;
BEGIN
    FOR one IN SELECT s.* FROM lockstep.schedule s WHERE s.job_id = own.job_id ORDER BY s.next_at, s.name LOOP
        decided := lockstep.job_decide(own, one, moment);
        schedule := one.name;
        verdict := decided.verdict;
        would_fire := decided.verdict = 'fire';
        reason := decided.reason;
        scheduled_for := decided.scheduled_for;
        next_scheduled_run := decided.next_at;
        tasks := to_jsonb(lockstep.job_tasks(own.spec, lockstep.job_words(own, one.name, lockstep.job_source(one, decided.missed_count), NULL,
            COALESCE(decided.scheduled_for, decided.next_at), moment, NULL)));
        RETURN NEXT;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_test(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_test(text, timestamptz) TO lockstep_operator, lockstep_producer, lockstep_monitor, lockstep_executor;
