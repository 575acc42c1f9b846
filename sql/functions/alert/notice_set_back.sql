-- The clock of the database was set back, or may have been: no incident has opened, and no notice was delivered, in the
-- future; a notice waits no longer than if it had failed now (notice_sent), and one that is being sent not longer than
-- any lease. A row that another session has is left to the next look.
CREATE OR REPLACE FUNCTION lockstep.notice_set_back(p_now timestamptz) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.job_alert a SET opened_at = p_now
    WHERE a.alert_id IN (SELECT b.alert_id FROM lockstep.job_alert b
                         WHERE b.closed_at IS NULL AND b.opened_at > p_now FOR NO KEY UPDATE SKIP LOCKED);
    UPDATE lockstep.job_notice n SET delivered_at = p_now
    WHERE n.notice_id IN (
        SELECT b.notice_id FROM lockstep.job_notice b JOIN lockstep.job_alert a USING (alert_id)
        WHERE a.closed_at IS NULL AND b.delivered_at > p_now FOR NO KEY UPDATE OF b SKIP LOCKED);
    UPDATE lockstep.job_notice n SET due_at = w.due_at
    FROM (SELECT b.notice_id,
                 p_now + CASE WHEN b.is_claimed THEN interval '2 hours' -- [alert:NAME] timeout is an hour at most
                              ELSE LEAST(2 ^ LEAST(b.attempts, 10), 600) * interval '1 second' END AS due_at
          FROM lockstep.job_notice b WHERE b.delivered_at IS NULL ORDER BY b.notice_id FOR NO KEY UPDATE SKIP LOCKED) w
    WHERE n.notice_id = w.notice_id AND n.due_at > w.due_at
$$;
REVOKE EXECUTE ON FUNCTION lockstep.notice_set_back(timestamptz) FROM PUBLIC;
