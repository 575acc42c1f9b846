-- The decision about a schedule at p_now: the same one for the dispatcher and for the test button. It reads, and
-- changes no row.
--   verdict        fire, skip, miss: scheduled_for is decided so
--                  queue, cancel: scheduled_for fires when the job's run has ended; cancel: which is asked to end
--                  wait: no time is due, or a run has to end first
--                  look: of a trigger, its table is to be read first
--   missed_from, missed_count  the times before scheduled_for that passed undecided
--   next_at        the first time after the decided ones; wake_at: when to decide again
-- A time that another schedule of the job has fired, or keeps waiting, is not fired again: equal instants are one run.
-- p_before: the decisions of the test button about the schedules whose turn comes before; the dispatcher has carried
-- them out, and finds them in the tables.
CREATE OR REPLACE FUNCTION lockstep.job_decide(
    p_job lockstep.job, p_schedule lockstep.schedule, p_now timestamptz, p_before lockstep.dispatched[] DEFAULT '{}',
    OUT verdict text, OUT reason text, OUT scheduled_for timestamptz, OUT missed_from timestamptz, OUT missed_count int,
    OUT next_at timestamptz, OUT wake_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    MOST CONSTANT int := 5000;                          -- times that one look walks over; the next one decides the rest
    ON_TIME CONSTANT interval := interval '1 minute';   -- later than this is a misfire
    AGAIN CONSTANT interval := interval '5 seconds';    -- the end of a run notifies, but it may be ending now
    -- it is not looked at before
    later CONSTANT interval := COALESCE(lockstep.job_jitter(p_job.name, p_schedule, p_schedule.next_at), interval '0');
    oldest CONSTANT timestamptz := p_now - later - CASE WHEN p_schedule.misfire = 'skip'
                                                            THEN LEAST(p_schedule.catchup_window, ON_TIME)
                                                        ELSE p_schedule.catchup_window END;
    open record;
    is_open boolean;
    twin text;
    following timestamptz;
    passed timestamptz[];
BEGIN
    missed_count := 0;
    next_at := p_schedule.next_at;
    wake_at := CASE WHEN p_schedule.after_job IS NULL
                        THEN next_at + lockstep.job_jitter(p_job.name, p_schedule, next_at)
                    WHEN next_at IS NOT NULL THEN p_schedule.due_at END;
    reason := lockstep.job_rests(p_job, p_schedule);
    IF reason IS NOT NULL THEN
        verdict := 'wait';
        wake_at := CASE WHEN p_schedule.is_active THEN GREATEST(wake_at, p_now + ON_TIME) END;
        RETURN;
    END IF;
    SELECT r.run_id, r.status, r.created_at INTO open
    FROM lockstep.run r WHERE r.job_id = p_job.job_id AND r.ended_at IS NULL ORDER BY r.run_no LIMIT 1;
    IF open.run_id IS NOT NULL THEN
        reason := pg_catalog.format('run %s of the job is %s since %s', open.run_id, open.status,
                                    lockstep.job_time(pg_catalog.date_trunc('second', open.created_at)));
    ELSIF pg_catalog.cardinality(p_before) > 0 THEN
        SELECT pg_catalog.format('schedule %s fires now', b.schedule) INTO reason
        FROM pg_catalog.unnest(p_before) AS b WHERE b.verdict = 'fire' LIMIT 1;
    END IF;
    is_open := reason IS NOT NULL;
    IF (p_schedule.rows_rule).relation IS NOT NULL THEN
        SELECT d.* INTO verdict, reason, scheduled_for, missed_from, missed_count, next_at, wake_at
        FROM lockstep.job_decide_rows(p_job, p_schedule, p_now, reason) AS d;
        RETURN;
    ELSIF p_schedule.queued_for IS NOT NULL AND NOT is_open THEN
        verdict := 'fire';
        scheduled_for := p_schedule.queued_for;
        missed_from := p_schedule.queued_missed_from;
        missed_count := p_schedule.queued_missed;
        reason := 'it waited for the end of a run';
        RETURN;
    ELSIF next_at IS NULL OR wake_at > p_now THEN
        verdict := 'wait';
        wake_at := CASE WHEN p_schedule.queued_for IS NOT NULL THEN LEAST(wake_at, p_now + AGAIN) ELSE wake_at END;
        reason := CASE WHEN p_schedule.queued_for IS NOT NULL THEN 'it waits for the end of a run: ' || reason
                       WHEN next_at IS NULL AND p_schedule.after_job IS NOT NULL
                           THEN 'the job that it follows has not ended'
                       WHEN next_at IS NULL THEN 'it has no time any more'
                       ELSE pg_catalog.format('next run not due yet: %s %s, in %s',
                                              pg_catalog.to_char(
                                                  next_at AT TIME ZONE (p_schedule.rule).zone, 'YYYY-MM-DD HH24:MI:SS'),
                                              (p_schedule.rule).zone, lockstep.job_away(wake_at - p_now)) END;
        RETURN;
    END IF;
    -- The latest time that has passed; the ones before it are missed. With misfire all only those that are too old are.
    scheduled_for := next_at;
    following := CASE WHEN p_schedule.after_job IS NULL THEN lockstep.rule_next(p_schedule.rule, scheduled_for) END;
    IF following <= p_now AND (p_schedule.misfire <> 'all' OR scheduled_for < oldest) THEN
        passed := following || lockstep.rule_walk(
            p_schedule.rule, following,
            CASE WHEN p_schedule.misfire = 'all' THEN LEAST(oldest, p_now) ELSE p_now END + interval '1 microsecond',
            MOST - 1);
        missed_from := scheduled_for;
        missed_count := pg_catalog.cardinality(passed);
        scheduled_for := passed[missed_count];
        following := lockstep.rule_next(p_schedule.rule, scheduled_for);
        -- the first one that is not too old
        IF p_schedule.misfire = 'all' AND scheduled_for < oldest AND following <= p_now AND missed_count < MOST THEN
            missed_count := missed_count + 1;
            scheduled_for := following;
            following := lockstep.rule_next(p_schedule.rule, scheduled_for);
        END IF;
    END IF;
    twin := lockstep.job_twin(p_schedule, scheduled_for, p_before);
    -- the next look walks on: a later time stands for these
    IF missed_count = MOST AND following <= p_now AND p_schedule.misfire <> 'all' THEN
        verdict := 'miss';
        reason := 'a later time has passed, too'
            || lockstep.job_missed_words(p_schedule.rule, missed_count + 1, missed_from, scheduled_for);
    ELSIF lockstep.job_decided(p_schedule, scheduled_for) THEN
        verdict := 'wait';
        reason := 'this time was decided before the clock was set back';
    ELSIF twin IS NOT NULL THEN
        verdict := 'skip';
        reason := twin;
    -- A job that follows another has the time of that one, which may have taken long: the end of its run counts.
    ELSIF (CASE WHEN p_schedule.after_job IS NULL THEN scheduled_for ELSE p_schedule.due_at END) < oldest THEN
        verdict := 'miss';
        reason := pg_catalog.format('no dispatcher was at work within %s%s', p_now - later - oldest,
            lockstep.job_missed_words(p_schedule.rule, missed_count + 1, missed_from, scheduled_for));
    ELSIF NOT is_open OR p_job.overlap = 'allow' THEN
        verdict := 'fire';
        reason := 'it is due';
    ELSIF p_schedule.queued_for IS NOT NULL THEN
        verdict := 'skip';
        reason := 'one waits already: ' || reason;
    -- the backlog, one after the other
    ELSIF p_schedule.misfire = 'all' AND scheduled_for < p_now - later - ON_TIME THEN
        verdict := 'wait';
        wake_at := p_now + AGAIN;
        scheduled_for := NULL;
        RETURN;
    ELSE
        SELECT m.* INTO verdict, reason FROM lockstep.job_meets(p_job, p_schedule, reason, p_before) AS m;
    END IF;
    next_at := following;
    wake_at := next_at + lockstep.job_jitter(p_job.name, p_schedule, next_at);
    -- a backlog takes turns with the other schedules that are due
    wake_at := CASE WHEN wake_at < p_now THEN p_now ELSE wake_at END;
    IF verdict IN ('queue', 'cancel') OR p_schedule.queued_for IS NOT NULL THEN
        wake_at := LEAST(wake_at, p_now + AGAIN);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_decide(lockstep.job, lockstep.schedule, timestamptz, lockstep.dispatched[])
    FROM PUBLIC;
