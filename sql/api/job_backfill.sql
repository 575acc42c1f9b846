-- Fires the times of a job from `from` until `until` that no occurrence has fired, of schedules with the same time
-- once, oldest first, in the caller's transaction; at most 1000 times at once.
-- schedule: only of this one, which may be disabled. overlap: the rule while a run of the job is open: allow fires
-- nevertheless; queue_one leaves the rest to the next call, so a caller repeats it until no time waits; skip leaves
-- these times unfired. dry_run only reports. Times that the dispatcher has yet to decide are left to it. A time that
-- was fired is not fired again, and its run has the id that it always has: neither a second call nor a dispatcher at
-- work doubles a run.
--   action  fire, wait (queue_one), skip, leave (to the dispatcher); detail why
CREATE OR REPLACE FUNCTION lockstep.job_backfill(
    job text, "from" timestamptz, until timestamptz, schedule text DEFAULT NULL, overlap text DEFAULT 'queue_one',
    dry_run boolean DEFAULT false)
RETURNS TABLE (schedule_name text, scheduled_for timestamptz, action text, detail text, run_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    MOST CONSTANT int := 1000;
    own CONSTANT lockstep.job := lockstep.job_named(job_backfill.job, NULL, true);
    source CONSTANT text := 'backfill by ' || lockstep.actor();
    times int := 0;
    one record;
    of_it lockstep.schedule;
    is_open boolean := false;
BEGIN
    PERFORM lockstep.job_backfill_check(own, job_backfill."from", job_backfill.until, job_backfill.schedule,
                                        job_backfill.overlap);
    FOR one IN
        WITH RECURSIVE walked AS (
            SELECT s.schedule_id, s.name, s.rule,
                   lockstep.rule_next(s.rule, job_backfill."from" - interval '1 microsecond') AS at, 1 AS no
            FROM lockstep.schedule s
            WHERE s.job_id = own.job_id AND s.after_job IS NULL
              AND CASE WHEN job_backfill.schedule IS NULL THEN COALESCE((s.spec ->> 'enabled')::boolean, true)
                       ELSE s.name = job_backfill.schedule END
            UNION ALL
            SELECT w.schedule_id, w.name, w.rule, lockstep.rule_next(w.rule, w.at), w.no + 1
            FROM walked w WHERE w.at < job_backfill.until AND w.no <= MOST)
        SELECT DISTINCT ON (w.at) w.schedule_id, w.name, w.at
        FROM walked w WHERE w.at < job_backfill.until ORDER BY w.at, w.name LIMIT MOST + 1
    LOOP
        times := times + 1;
        IF times > MOST THEN
            PERFORM lockstep.job_refuse('until', format('the range has more than %s times', MOST),
                                        format('write %s, and continue from there', lockstep.job_time(one.at)));
        END IF;
        SELECT s.* INTO of_it FROM lockstep.schedule s WHERE s.schedule_id = one.schedule_id;
        CONTINUE WHEN EXISTS (SELECT FROM lockstep.job_occurrence o JOIN lockstep.schedule s USING (schedule_id)
                              WHERE o.job_id = own.job_id AND o.scheduled_for = one.at AND o.outcome = 'fired'
                                AND (s.rule).kind IS NOT NULL);
        schedule_name := one.name;
        scheduled_for := one.at;
        run_id := NULL;
        detail := NULL;
        IF NOT (job_backfill.dry_run AND is_open) AND job_backfill.overlap <> 'allow' THEN
            SELECT format('run %s of the job is %s', r.run_id, r.status) INTO detail FROM lockstep.run r
            WHERE r.job_id = own.job_id AND r.ended_at IS NULL ORDER BY r.run_no LIMIT 1;
            is_open := FOUND;
        END IF;
        IF EXISTS (SELECT FROM lockstep.schedule s WHERE s.job_id = own.job_id AND s.queued_for = one.at)
           OR of_it.is_active AND of_it.next_at <= one.at THEN
            action := 'leave';
            detail := 'the dispatcher has yet to decide it';
        ELSIF is_open THEN
            action := CASE job_backfill.overlap WHEN 'skip' THEN 'skip' ELSE 'wait' END;
            detail := COALESCE(detail, 'the run of the time before is open then');
        ELSE
            action := 'fire';
            is_open := job_backfill.overlap <> 'allow';
            IF NOT job_backfill.dry_run THEN
                -- skipped, missed or an error: the log keeps it
                DELETE FROM lockstep.job_occurrence o
                WHERE o.schedule_id = one.schedule_id AND o.scheduled_for = one.at;
                run_id := lockstep.job_fire(own, of_it, one.at, source, 'by hand', NULL, NULL, 0);
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_backfill(text, timestamptz, timestamptz, text, text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_backfill(text, timestamptz, timestamptz, text, text, boolean)
    TO lockstep_operator;
