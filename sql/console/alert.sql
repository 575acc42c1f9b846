-- console_alert :maybe  incident $1, with the notices of it; if $2 with the text of an error
-- columns: document
SELECT json_build_object('alert', (SELECT to_json(i)
                                   FROM (SELECT a.alert_id, a.job, a.kind, a.since, a.opened_at, a.last_seen_at,
                                                lockstep.shown('job ' || a.kind, a.text, $2::boolean) AS text,
                                                a.acknowledged_by, a.acknowledged_at, a.note, a.closed_at, a.ended
                                         FROM lockstep.alert a WHERE a.alert_id = n.alert_id) i),
                         'notices', COALESCE(
                             (SELECT json_agg(i ORDER BY i.notice_id)
                              FROM (SELECT b.alert_id, b.receiver, b.notice, b.number, b.made_at, b.attempts,
                                           b.delivered_at, b.next_attempt_at,
                                           lockstep.shown('error', b.error, $2::boolean) AS error, b.sent_by,
                                           b.notice_id
                                    FROM lockstep.alert_notice b
                                    WHERE b.alert_id = n.alert_id ORDER BY b.notice_id DESC LIMIT 1000) i),
                             '[]'::json)) AS document
FROM (SELECT a.alert_id FROM lockstep.alert a WHERE a.alert_id = $1::bigint) n;
