-- Decides each schedule of a job as the next cycle of the dispatcher does, and changes nothing: now, or as if it were
-- p_now. The decision is the dispatcher's own (lockstep.job_decide). p_look: the result of a look at the trigger;
-- without it the last look of the dispatcher counts. words: those of the firing that is decided, or else of the next
-- one; NULL: the rule of the schedule cannot be decided. A job without a schedule has one row, with the words of a
-- firing by hand.
CREATE OR REPLACE FUNCTION lockstep.job_test_cycle(p_job lockstep.job, p_now timestamptz, p_look lockstep.rows_look)
RETURNS TABLE (schedule text, would_fire boolean, verdict text, reason text, scheduled_for timestamptz,
               next_scheduled_run timestamptz, pending_rows bigint, oldest_row_age interval, advice text, words jsonb)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    moment CONSTANT timestamptz := COALESCE(p_now, pg_catalog.clock_timestamp());
    one lockstep.schedule;
    decided record;
    fault text;
    timed timestamptz;
    done lockstep.dispatched;
    before lockstep.dispatched[] := '{}';
    held CONSTANT text := (SELECT pg_catalog.min(h.why) FROM lockstep.job_held(p_job.job_id) AS h WHERE p_now IS NULL);
    still CONSTANT text := (
        SELECT pg_catalog.format('queue %s is %s: a run that fires waits in it', q.name,
                                 CASE WHEN q.paused THEN 'paused' ELSE 'halted' END)
        FROM lockstep.queue q
        WHERE q.queue_id = p_job.queue_id AND (q.paused OR q.halted_reason IS NOT NULL));
BEGIN
    -- as the dispatcher
    FOR one IN
        SELECT s.* FROM lockstep.schedule s WHERE s.job_id = p_job.job_id ORDER BY s.wake_at, s.schedule_id
    LOOP
        IF (one.rows_rule).relation IS NOT NULL AND p_look.rows IS NOT NULL THEN
            one.look := ROW(moment, p_look.rows, p_look.oldest_at, p_look.newest_at, 0, NULL)::lockstep.rows_look;
            one.next_at := moment;
        END IF;
        fault := CASE WHEN one.is_active THEN lockstep.rule_fault(one.rule) END;
        IF fault IS NOT NULL THEN -- as the dispatcher: its time stays undecided, and the other schedules continue
            RETURN QUERY SELECT one.name, false, 'error', pg_catalog.concat_ws('; ', fault, still), NULL::timestamptz,
                NULL::timestamptz, NULL::bigint, NULL::interval,
                pg_catalog.format('lockstep schedule set %s %s --zone ZONE', p_job.name, one.name), NULL::jsonb;
            CONTINUE;
        END IF;
        decided := lockstep.job_decide(p_job, one, moment, before);
        done.schedule := one.name;
        done.verdict := decided.verdict;
        done.scheduled_for := decided.scheduled_for;
        before := before || done;
        schedule := one.name;
        verdict := decided.verdict;
        would_fire := decided.verdict = 'fire' AND held IS NULL;
        reason := pg_catalog.concat_ws('; ', decided.reason, held, still);
        scheduled_for := decided.scheduled_for;
        next_scheduled_run := decided.next_at;
        timed := COALESCE(decided.scheduled_for, decided.next_at, moment);
        words := lockstep.job_words(p_job, one.name,
                                    CASE WHEN (one.rows_rule).relation IS NULL
                                             THEN lockstep.job_source(one, decided.missed_count)
                                         ELSE decided.reason END,
                                    lockstep.job_run_id(one.schedule_uid, timed), timed, moment, NULL)
                 || pg_catalog.jsonb_build_object('rows', (one.look).rows);
        pending_rows := (one.look).rows;
        oldest_row_age := moment - (one.look).oldest_at;
        advice := lockstep.job_advice(one.rows_rule);
        RETURN NEXT;
    END LOOP;
    IF NOT FOUND THEN
        verdict := 'wait';
        would_fire := false;
        reason := pg_catalog.concat_ws('; ', 'it has no schedule, and fires by hand', still);
        words := lockstep.job_words(p_job, NULL, 'manual by ' || lockstep.actor(), pg_catalog.gen_random_uuid(), moment,
                                    moment, NULL);
        RETURN NEXT;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_test_cycle(lockstep.job, timestamptz, lockstep.rows_look) FROM PUBLIC;
