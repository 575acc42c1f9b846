-- console_alert :maybe  incident $1, with the notices of it; if $2 with the text of an error
-- columns: document
SELECT json_build_object('alert', (SELECT to_json(i)
                                   FROM (SELECT a.alert_id, a.job, a.kind, a.since, a.opened_at, a.last_seen_at,
                                                lockstep.shown('job ' || a.kind, a.text, $2::boolean) AS text,
                                                a.acknowledged_by, a.acknowledged_at, a.note, a.closed_at, a.ended
                                         FROM lockstep.alert a WHERE a.alert_id = n.alert_id) i),
                         'notices', COALESCE(
                             (SELECT json_agg(i ORDER BY i.notice_id)
                              FROM (SELECT b.*
                                    FROM lockstep.alert_notice b
                                    WHERE b.alert_id = n.alert_id ORDER BY b.notice_id DESC LIMIT 1000) i),
                             '[]'::json)) AS document
FROM (SELECT a.alert_id FROM lockstep.alert a WHERE a.alert_id = $1::bigint) n;
