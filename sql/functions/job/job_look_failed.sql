-- A look at a trigger, or its firing, failed; the firing is a time of its own. The log has it once until it changes;
-- the next look comes later each time, also after a look that found rows to fire for: only what fires, or has nothing
-- to fire for, ends the row of failures (job_act).
CREATE OR REPLACE FUNCTION lockstep.job_look_failed(p_job lockstep.job, p_schedule lockstep.schedule, p_why text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
    why CONSTANT text :=
        p_why || CASE WHEN lockstep.job_relation((p_schedule.rows_rule).relation) IS NULL THEN pg_catalog.format(
                          '; table %s is gone: create it again, or disable the job: lockstep job disable %s',
                          (p_schedule.rows_rule).relation, p_job.name)
                      ELSE '' END;
    failed lockstep.rows_look;
    decided record;
    is_known boolean := false;
BEGIN
    -- it was to fire: of errors in a row that are alike the last is kept
    IF (p_schedule.look).at >= p_schedule.next_at THEN
        UPDATE lockstep.job_occurrence o SET scheduled_for = (p_schedule.look).at, decided_at = now
        WHERE o.occurrence_id = (SELECT b.occurrence_id
                                 FROM lockstep.job_occurrence b
                                 WHERE b.schedule_id = p_schedule.schedule_id ORDER BY b.scheduled_for DESC LIMIT 1)
          AND o.outcome = 'error' AND o.reason = why;
        is_known := FOUND;
        INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, reason, dispatcher)
        SELECT p_job.job_id, p_schedule.schedule_id, (p_schedule.look).at, 'error', 'trigger', why, SESSION_USER
        WHERE NOT is_known
        ON CONFLICT (schedule_id, scheduled_for) DO NOTHING;
    END IF;
    IF why IS DISTINCT FROM (p_schedule.look).error AND why IS DISTINCT FROM p_schedule.failing_why
       AND NOT is_known THEN
        PERFORM lockstep.job_note(p_job.name, 'error', 'trigger', why);
    END IF;
    failed.at := now;
    failed.failures := COALESCE((p_schedule.look).failures, 0) + 1;
    failed.error := why;
    p_schedule.look := failed;
    p_schedule.next_at := LEAST(p_schedule.next_at, now);
    decided := lockstep.job_decide_rows(p_job, p_schedule, now, NULL);
    UPDATE lockstep.schedule s
    SET look = failed, failing_since = COALESCE(s.failing_since, now), asked_until = NULL, next_at = decided.next_at,
        wake_at = decided.wake_at
    WHERE s.schedule_id = p_schedule.schedule_id;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_look_failed(lockstep.job, lockstep.schedule, text) FROM PUBLIC;
