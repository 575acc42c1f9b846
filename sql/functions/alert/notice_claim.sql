-- The next notice that [alert:p_receiver] is to send, for p_lease: a monitor that has not reported its outcome by then
-- (lockstep.notice_sent) is taken for dead, and the notice is claimed again. Notices: for each open incident that
-- matches one, for a closed incident another one if there was one of its opening, and reminders.
--   p_jobs    names, with * for any text
--   p_kinds   NULL: all
--   p_hold    a younger incident is not sent yet, but for absent, which may be over by then
--   p_remind  NULL: no reminders
--   wait_ms   no notice is due for so long; NULL: until it is notified
CREATE OR REPLACE FUNCTION lockstep.notice_claim(
    p_receiver text, p_by text, p_jobs text[], p_kinds text[], p_hold interval, p_remind interval, p_lease interval,
    OUT notice_id bigint, OUT attempt int, OUT document text, OUT notice_key text, OUT wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    NEWS CONSTANT interval := interval '7 days'; -- the end of an incident that is older is none
    now CONSTANT timestamptz := clock_timestamp();
    due lockstep.job_notice;
BEGIN
    -- An incident that ended before an attempt to send it is not sent. After an attempt it may have arrived, so it is
    -- sent until it is delivered, and its end behind it. That the monitor was absent is sent in any case: nothing else
    -- says that jobs were not looked at. An end and an acknowledgement do not wait for a reminder. One that is being
    -- sent is left alone until its lease ends. With the order two monitors lock the same rows alike.
    DELETE FROM lockstep.job_notice n WHERE n.notice_id = ANY (ARRAY(
        SELECT o.notice_id FROM lockstep.job_notice o JOIN lockstep.job_alert a ON a.alert_id = o.alert_id
        CROSS JOIN LATERAL (
            SELECT sum(b.attempts) AS attempts,
                   count(*) FILTER (WHERE b.delivered_at IS NULL AND b.is_claimed AND b.due_at > now) AS being_sent
            FROM lockstep.job_notice b WHERE b.alert_id = o.alert_id AND b.receiver = p_receiver) l
        WHERE o.receiver = p_receiver AND o.delivered_at IS NULL AND l.being_sent = 0
          AND CASE WHEN o.notice = 'reminder' THEN COALESCE(a.closed_at, a.acknowledged_at) IS NOT NULL
                   ELSE a.closed_at <= now - NEWS
                        OR (a.closed_at IS NOT NULL AND l.attempts = 0 AND a.kind <> 'absent') END
        ORDER BY o.notice_id FOR UPDATE OF o SKIP LOCKED));
    -- A notice is made when the notices of its incident before it have been delivered, so the end of an incident is not
    -- sent before its opening, and wait_ms counts only notices that can be sent. The notices are counted, not joined,
    -- and in an order that no index has: no plan reads all alerts or all notices for it.
    INSERT INTO lockstep.job_notice (alert_id, receiver, notice, number, made_at, due_at)
    SELECT a.alert_id, p_receiver, 'opened', 0, now, now FROM lockstep.job_alert a
    WHERE a.closed_at IS NULL AND (a.kind = 'absent' OR a.opened_at <= now - p_hold)
      AND lockstep.alert_matches(a.job, a.kind, p_jobs, p_kinds)
      AND (SELECT count(*) = 0 FROM lockstep.job_notice n WHERE n.alert_id = a.alert_id AND n.receiver = p_receiver)
    ORDER BY a.alert_id + 0 ON CONFLICT DO NOTHING; -- another monitor is just as fast
    INSERT INTO lockstep.job_notice (alert_id, receiver, notice, number, made_at, due_at)
    SELECT a.alert_id, p_receiver, 'closed', 0, now, now
    FROM lockstep.job_alert a
    WHERE a.closed_at > now - NEWS
      AND (SELECT count(*) > 0 AND bool_and(n.notice <> 'closed' AND n.delivered_at IS NOT NULL)
           FROM lockstep.job_notice n WHERE n.alert_id = a.alert_id AND n.receiver = p_receiver)
    ORDER BY a.alert_id + 0 ON CONFLICT DO NOTHING;
    INSERT INTO lockstep.job_notice (alert_id, receiver, notice, number, made_at, due_at)
    SELECT a.alert_id, p_receiver, 'reminder', l.number + 1, now, now
    FROM lockstep.job_alert a
    CROSS JOIN LATERAL (SELECT max(n.number) AS number, max(n.delivered_at) AS delivered_at,
                               count(*) FILTER (WHERE n.delivered_at IS NULL) AS open
                        FROM lockstep.job_notice n WHERE n.alert_id = a.alert_id AND n.receiver = p_receiver) l
    WHERE a.closed_at IS NULL AND a.acknowledged_at IS NULL AND l.open = 0 AND l.delivered_at <= now - p_remind
    ORDER BY a.alert_id + 0 ON CONFLICT DO NOTHING;
    SELECT n.* INTO due
    FROM lockstep.job_notice n
    WHERE n.receiver = p_receiver AND n.delivered_at IS NULL AND n.due_at <= now
    ORDER BY n.due_at, n.notice_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT CASE WHEN count(*) > 0 THEN LEAST(ceil(GREATEST(date_part('epoch', min(n.due_at) - now), 0) * 1000) + 1,
                                                 2000000000) END
        INTO wait_ms
        FROM lockstep.job_notice n
        WHERE n.receiver = p_receiver AND n.delivered_at IS NULL;
        RETURN;
    END IF;
    UPDATE lockstep.job_notice n
    SET attempts = n.attempts + 1, due_at = now + p_lease, by_whom = p_by, is_claimed = true
    WHERE n.notice_id = due.notice_id
    RETURNING n.notice_id, n.attempts, format('alert-%s-%s-%s', n.alert_id, n.notice, n.number)
    INTO notice_id, attempt, notice_key;
    document := (
        SELECT json_build_object(
                   'alert', a.alert_id, 'notice', due.notice, 'number', due.number, 'job', NULLIF(a.job, ''),
                   'kind', a.kind, 'text', a.text, 'since', lockstep.job_time(a.since),
                   'opened_at', lockstep.job_time(a.opened_at), 'last_seen_at', lockstep.job_time(a.last_seen_at),
                   'closed_at', lockstep.job_time(a.closed_at), 'ended', a.ended, 'acknowledged_by', a.acknowledged_by,
                   'note', a.note, 'database', current_database(), 'receiver', p_receiver, 'attempt', attempt)
        FROM lockstep.job_alert a WHERE a.alert_id = due.alert_id);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.notice_claim(text, text, text[], text[], interval, interval, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.notice_claim(text, text, text[], text[], interval, interval, interval)
    TO lockstep_operator;
