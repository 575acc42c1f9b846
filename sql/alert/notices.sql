-- alert_notices :many  what was sent of incident $1, the oldest first
-- columns: receiver, notice, number, made_at, attempts, delivered_at, next_attempt_at, error, sent_by
SELECT n.receiver, n.notice, n.number, n.made_at, n.attempts, n.delivered_at, n.next_attempt_at, n.error, n.sent_by
FROM lockstep.alert_notice n WHERE n.alert_id = $1::bigint ORDER BY n.notice_id;
