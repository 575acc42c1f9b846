-- console_alerts :one  the newest $1 incidents of jobs before number $2: open or closed ones $3, of jobs with $4 in
-- their name (NULL: any); if $5 with the texts of errors
-- columns: document
WITH found AS (
    SELECT a.alert_id FROM lockstep.alert a
    WHERE ($3::text IS NULL OR $3::text = CASE WHEN a.closed_at IS NULL THEN 'open' ELSE 'closed' END)
      AND ($4::text IS NULL OR strpos(lower(a.job), lower($4::text)) > 0)),
page AS MATERIALIZED (
    SELECT f.alert_id
    FROM found f WHERE f.alert_id < COALESCE($2::bigint, 9223372036854775807) ORDER BY f.alert_id DESC LIMIT $1::bigint)
SELECT lockstep.page((SELECT json_agg(i ORDER BY i.alert_id DESC)
                      FROM (SELECT a.alert_id, a.job, a.kind, a.since, a.opened_at, a.last_seen_at,
                                   lockstep.shown('job ' || a.kind, a.text, $5::boolean) AS text, a.acknowledged_by,
                                   a.acknowledged_at, a.note, a.closed_at, a.ended,
                                   (SELECT count(*)
                                    FROM lockstep.alert_notice n
                                    WHERE n.alert_id = a.alert_id AND n.delivered_at IS NULL) AS undelivered
                            FROM lockstep.alert a WHERE a.alert_id = ANY (ARRAY(SELECT alert_id FROM page))) i),
                     (SELECT 'alerts.' || min(alert_id) FROM page HAVING count(*) = $1::bigint),
                     (SELECT count(*) FROM (SELECT FROM found LIMIT 10001) c)) AS document;
