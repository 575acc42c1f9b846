-- The clock of the database was set back, or may have been: schedules whose time is by the clock before get their first
-- time after now again. A time that was decided is not decided again (job_decide), and a watch is not expected to
-- report twice for one. A trigger is looked at. The end of a job, a request and a notice wait no longer than if they
-- came now. A row that another session has is left to the next look.
CREATE OR REPLACE FUNCTION lockstep.job_set_back(p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    LEASE CONSTANT interval := interval '15 minutes'; -- of SQL of a firing (job_ask)
    one record;
    count int := 0;
BEGIN
    FOR one IN
        SELECT s.schedule_id, s.name, j.name AS job, j.is_watch, s AS schedule, LEAST(n.next, s.next_at) AS next
        FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
        CROSS JOIN LATERAL (
            SELECT CASE WHEN (s.rows_rule).relation IS NOT NULL THEN p_now
                        WHEN lockstep.rule_fault(s.rule) IS NOT NULL THEN NULL -- its zone is gone
                        WHEN j.is_watch THEN lockstep.job_report_next(s, p_now)
                        ELSE lockstep.rule_next(s.rule, p_now) END AS next) n
        WHERE s.is_active AND s.after_job IS NULL
          AND (COALESCE(s.next_at > p_now, true) AND n.next < COALESCE(s.next_at, 'infinity')
               OR s.asked_until > p_now + LEASE)
        ORDER BY s.schedule_id FOR NO KEY UPDATE OF s SKIP LOCKED
    LOOP
        UPDATE lockstep.schedule s
        SET next_at = one.next, asked_until = CASE WHEN s.asked_until <= p_now + LEASE THEN s.asked_until END,
            wake_at = CASE WHEN NOT one.is_watch
                               THEN one.next + lockstep.job_jitter(one.job, one.schedule, one.next) END,
            look = CASE WHEN (s.look).at <= p_now THEN s.look END, fired_at = LEAST(s.fired_at, p_now)
        WHERE s.schedule_id = one.schedule_id;
        count := count + 1;
        CONTINUE WHEN ((one.schedule).rows_rule).relation IS NOT NULL OR one.next = (one.schedule).next_at;
        PERFORM lockstep.job_note(
            one.job, 'changed', 'schedule ' || one.name,
            pg_catalog.format('the clock of the database was set back: its next time is %s, not %s',
                              lockstep.job_time(one.next),
                              COALESCE(lockstep.job_time((one.schedule).next_at), 'never')));
    END LOOP;
    UPDATE lockstep.schedule s
    SET due_at = LEAST(s.due_at, p_now + s.jitter), wake_at = LEAST(s.wake_at, p_now + s.jitter),
        asked_until = CASE WHEN s.asked_until <= p_now + LEASE THEN s.asked_until END
    WHERE s.schedule_id IN (SELECT b.schedule_id FROM lockstep.schedule b
                            WHERE b.is_active AND b.after_job IS NOT NULL
                              AND (b.due_at > p_now + b.jitter OR b.asked_until > p_now + LEASE)
                            FOR NO KEY UPDATE SKIP LOCKED);
    UPDATE lockstep.job_end e SET due_at = LEAST(e.due_at, p_now + s.jitter)
    FROM lockstep.schedule s WHERE s.schedule_id = e.schedule_id AND e.due_at > p_now + s.jitter;
    UPDATE lockstep.job_ask a SET wake_at = p_now WHERE a.wake_at > p_now + LEASE;
    PERFORM lockstep.notice_set_back(p_now);
    IF count > 0 THEN
        PERFORM pg_catalog.pg_notify('lockstep_jobs', '');
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_set_back(timestamptz) FROM PUBLIC;
