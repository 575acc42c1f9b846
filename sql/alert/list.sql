-- alert_list :many  the newest $2 incidents, $1: also closed ones, the newest last
-- columns: alert, job, kind, since, opened_at, last_seen_at, text, acknowledged_by, note, closed_at, ended, undelivered
SELECT h.alert_id AS alert, h.job, h.kind, h.since, h.opened_at, h.last_seen_at, h.text, h.acknowledged_by, h.note,
       h.closed_at, h.ended,
       (SELECT count(*)
        FROM lockstep.alert_notice n WHERE n.alert_id = h.alert_id AND n.delivered_at IS NULL) AS undelivered
FROM (SELECT a.alert_id, a.job, a.kind, a.since, a.opened_at, a.last_seen_at, a.text, a.acknowledged_by, a.note,
             a.closed_at, a.ended
      FROM lockstep.alert a WHERE a.closed_at IS NULL OR $1::boolean ORDER BY a.alert_id DESC LIMIT $2::bigint) AS h
ORDER BY h.alert_id;
