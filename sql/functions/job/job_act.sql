-- Carries out the decision about a schedule. The schedule's row is locked before the decision is carried out, by the
-- caller, as by the end of a run. Only where the overlap is cancel the dispatcher does not lock it, because a cancel
-- needs a run whose end may hold the row: then it is locked here, behind the cancel. p_tasks, p_rows: the results of
-- users' SQL: the tasks instead of the template's, and the number of rows from which they are.
CREATE OR REPLACE FUNCTION lockstep.job_act(
    p_job lockstep.job, p_schedule lockstep.schedule, p_decided record, p_by text, p_tasks jsonb[] DEFAULT NULL,
    p_rows bigint DEFAULT NULL, OUT run uuid)
LANGUAGE plpgsql AS $$
DECLARE
    OUTCOMES CONSTANT jsonb := '{"skip": "skipped", "miss": "missed"}';
    is_trigger CONSTANT boolean := (p_schedule.rows_rule).relation IS NOT NULL;
    source CONSTANT text := CASE WHEN is_trigger THEN p_decided.reason
                                 ELSE lockstep.job_source(p_schedule, p_decided.missed_count) END;
    outcome CONSTANT text := OUTCOMES ->> p_decided.verdict;
    -- the time that waited for the end of a run is decided
    ends_queue CONSTANT boolean := p_decided.verdict <> 'wait'
                                   AND COALESCE(p_decided.scheduled_for = p_schedule.queued_for, false);
    has_news boolean := false;
BEGIN
    IF p_decided.verdict = 'cancel' THEN
        run := lockstep.job_cancel_runs(p_job, pg_catalog.format('job %s is due again', p_job.name));
        -- nothing of it ran: it has ended already
        IF NOT EXISTS (SELECT FROM lockstep.run r WHERE r.job_id = p_job.job_id AND r.ended_at IS NULL) THEN
            p_decided.wake_at := pg_catalog.clock_timestamp();
        END IF;
    END IF;
    IF p_job.overlap = 'cancel' THEN
        -- Meanwhile the job that it follows has ended once more.
        SELECT s.after_job IS NOT NULL AND s.next_at IS DISTINCT FROM p_schedule.next_at INTO has_news
        FROM lockstep.schedule s
        WHERE s.schedule_id = p_schedule.schedule_id FOR NO KEY UPDATE;
    END IF;
    IF p_decided.verdict = 'fire' THEN
        run := lockstep.job_fire(p_job, p_schedule, p_decided.scheduled_for, source, p_by, NULL, p_decided.missed_from,
                                 p_decided.missed_count, p_tasks, COALESCE(p_rows, (p_schedule.look).rows));
    ELSIF outcome IS NOT NULL THEN
        INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, reason, missed_from,
                                             missed_count, dispatcher)
        VALUES (p_job.job_id, p_schedule.schedule_id, p_decided.scheduled_for, outcome, source, p_decided.reason,
                p_decided.missed_from, p_decided.missed_count, p_by);
        PERFORM lockstep.job_note(p_job.name, outcome, source, p_decided.reason);
    END IF;
    UPDATE lockstep.schedule s
    SET asked_until = NULL, failing_since = CASE WHEN is_trigger AND (s.look).failures > 0 THEN s.failing_since END,
        failing_why = NULL,
        fired_at = CASE WHEN p_decided.verdict = 'fire' AND is_trigger THEN p_decided.scheduled_for ELSE s.fired_at END,
        next_at = CASE WHEN has_news THEN s.next_at ELSE p_decided.next_at END,
        wake_at = CASE WHEN has_news THEN s.wake_at ELSE p_decided.wake_at END,
        queued_for = CASE WHEN p_decided.verdict IN ('queue', 'cancel') THEN p_decided.scheduled_for
                          WHEN ends_queue THEN NULL ELSE s.queued_for END,
        queued_missed_from = CASE WHEN p_decided.verdict IN ('queue', 'cancel') THEN p_decided.missed_from
                                  WHEN ends_queue THEN NULL ELSE s.queued_missed_from END,
        queued_missed = CASE WHEN p_decided.verdict IN ('queue', 'cancel') THEN p_decided.missed_count
                             WHEN ends_queue THEN 0 ELSE s.queued_missed END
    WHERE s.schedule_id = p_schedule.schedule_id;
    IF p_schedule.after_job IS NOT NULL THEN
        PERFORM lockstep.job_end_next(p_schedule.schedule_id);
    END IF;
    IF is_trigger AND (p_schedule.look).failures > 0 AND (p_schedule.look).error IS NULL THEN
        UPDATE lockstep.schedule s SET look.failures = 0, failing_since = NULL
        WHERE s.schedule_id = p_schedule.schedule_id;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_act(lockstep.job, lockstep.schedule, record, text, jsonb[], bigint) FROM PUBLIC;
