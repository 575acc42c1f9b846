-- A firing failed: its time is decided as an error, and the schedule continues with its next time. When even that is
-- impossible, because its zone is gone (rule_fault) or the error cannot be recorded, its time stays undecided,
-- job_health reports it, and its next look is in a minute.
CREATE OR REPLACE FUNCTION lockstep.job_failed(
    p_job lockstep.job, p_schedule lockstep.schedule, p_for timestamptz, p_by text, p_why text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    at CONSTANT timestamptz := COALESCE(p_for, p_schedule.queued_for, p_schedule.next_at);
    was_queued CONSTANT boolean := COALESCE(at = p_schedule.queued_for, false);
    why CONSTANT text := pg_catalog.left(p_why, 2000);
    next timestamptz;
    missed_from timestamptz := CASE WHEN was_queued THEN p_schedule.queued_missed_from
                                    WHEN p_schedule.next_at < at THEN p_schedule.next_at END;
    missed int := CASE WHEN was_queued THEN p_schedule.queued_missed ELSE 0 END;
BEGIN
    IF (p_schedule.rows_rule).relation IS NOT NULL THEN
        PERFORM lockstep.job_look_failed(p_job, p_schedule, why);
        PERFORM lockstep.job_deferred();
        RETURN;
    END IF;
    IF lockstep.rule_fault(p_schedule.rule) IS NOT NULL THEN
        IF p_schedule.failing_why IS DISTINCT FROM why THEN
            PERFORM lockstep.job_note(p_job.name, 'error', 'schedule ' || p_schedule.name, why);
        END IF;
        UPDATE lockstep.schedule s SET asked_until = NULL, wake_at = pg_catalog.clock_timestamp() + interval '1 minute',
            failing_since = COALESCE(s.failing_since, pg_catalog.clock_timestamp()), failing_why = why
        WHERE s.schedule_id = p_schedule.schedule_id;
        RETURN;
    END IF;
    PERFORM lockstep.job_note(p_job.name, 'error', 'schedule ' || p_schedule.name, why);
    next := missed_from;
    WHILE next < at AND NOT was_queued AND p_schedule.after_job IS NULL LOOP -- the decision has walked over them, too
        missed := missed + 1;
        next := lockstep.rule_next(p_schedule.rule, next);
    END LOOP;
    INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, reason, missed_from,
                                         missed_count, dispatcher)
    VALUES (p_job.job_id, p_schedule.schedule_id, at, 'error', 'schedule ' || p_schedule.name, why,
            missed_from, missed, p_by)
    ON CONFLICT (schedule_id, scheduled_for) DO NOTHING;
    next := CASE WHEN was_queued THEN p_schedule.next_at
                 WHEN p_schedule.after_job IS NULL
                     THEN lockstep.rule_next(p_schedule.rule,
                                             CASE p_schedule.misfire WHEN 'all' THEN at
                                                  ELSE GREATEST(at, pg_catalog.clock_timestamp()) END) END;
    UPDATE lockstep.schedule s
    SET queued_for = CASE WHEN was_queued THEN NULL ELSE s.queued_for END, asked_until = NULL, failing_since = NULL,
        failing_why = NULL, queued_missed_from = CASE WHEN NOT was_queued THEN s.queued_missed_from END,
        queued_missed = CASE WHEN was_queued THEN 0 ELSE s.queued_missed END,
        -- the job that it follows may have ended again
        next_at = CASE WHEN s.after_job IS NULL OR was_queued THEN next
                       WHEN s.next_at IS DISTINCT FROM at THEN s.next_at END,
        wake_at = CASE WHEN s.after_job IS NULL OR was_queued
                           THEN next + lockstep.job_jitter(p_job.name, p_schedule, next)
                       WHEN s.next_at IS DISTINCT FROM at THEN s.wake_at END
    WHERE s.schedule_id = p_schedule.schedule_id;
    IF p_schedule.after_job IS NOT NULL THEN
        PERFORM lockstep.job_end_next(p_schedule.schedule_id);
    END IF;
    PERFORM lockstep.job_deferred();
EXCEPTION
    WHEN OTHERS OR assert_failure THEN
        RAISE WARNING 'job %: % (and: %)', p_job.name, why, SQLERRM;
        UPDATE lockstep.schedule s SET asked_until = NULL, wake_at = pg_catalog.clock_timestamp() + interval '1 minute'
        WHERE s.schedule_id = p_schedule.schedule_id;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_failed(lockstep.job, lockstep.schedule, timestamptz, text, text) FROM PUBLIC;
