-- alert_show :maybe  incident $1
-- columns: alert, job, kind, since, opened_at, last_seen_at, text, acknowledged_by, acknowledged_at, note, closed_at,
--          ended
SELECT a.alert_id AS alert, a.job, a.kind, a.since, a.opened_at, a.last_seen_at, a.text, a.acknowledged_by,
       a.acknowledged_at, a.note, a.closed_at, a.ended
FROM lockstep.alert a WHERE a.alert_id = $1::bigint;
