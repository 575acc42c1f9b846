-- console_job_log :one  the newest $1 lines of the logs of jobs behind place $2: of jobs with $3 in their name, of
-- kinds $4, with $5 in them, from $6 to $7 (NULL: any); if $8 with the texts of errors. A page looks at 10,001 lines at
-- most, and so does the count: `next` continues where it ended
-- columns: document
WITH asked AS MATERIALIZED (
    SELECT CASE WHEN COALESCE($3::text, $4::text, $5::text, $6::text, $7::text) IS NULL THEN $1::bigint
                ELSE 10001 END AS most),
seen AS (
    SELECT e.job_event_id, e.at, e.event, e.source, e.message, e.job FROM lockstep.job_event e
    WHERE (e.at, e.job_event_id) < ((SELECT lockstep.place_at($2::text)), (SELECT lockstep.place_id($2::text)))
      AND e.at BETWEEN COALESCE($6::timestamptz, '-infinity') AND COALESCE($7::timestamptz, 'infinity')
    ORDER BY e.at DESC, e.job_event_id DESC LIMIT (SELECT a.most FROM asked a)),
found AS MATERIALIZED (
    SELECT s.job_event_id, s.at
    FROM seen s
    WHERE ($4::text IS NULL OR s.event = ANY (string_to_array($4::text, ',')))
      AND ($5::text IS NULL
           OR strpos(lower(concat_ws(' ', s.source, lockstep.shown('job ' || s.event, s.message, $8::boolean))),
                     lower($5::text)) > 0)
      AND ($3::text IS NULL OR strpos(lower(s.job), lower($3::text)) > 0)
    ORDER BY s.at DESC, s.job_event_id DESC LIMIT 10001),
page AS MATERIALIZED (SELECT f.job_event_id, f.at FROM found f ORDER BY f.at DESC, f.job_event_id DESC LIMIT $1::bigint)
SELECT lockstep.page(
           (SELECT json_agg(i ORDER BY i.at DESC, i.job_event_id DESC)
            FROM (SELECT l.job_event_id, l.at, l.job, l.event, l.event AS kind, l.source,
                         lockstep.shown('job ' || l.event, l.message, $8::boolean) AS message, l.run_id,
                         lockstep.seconds(l.duration) AS duration, l.rows
                  FROM lockstep.job_log l WHERE l.job_event_id = ANY (ARRAY(SELECT job_event_id FROM page))) i),
           'job-log.' || COALESCE(
               (SELECT lockstep.place(p.at, p.job_event_id)
                FROM page p WHERE (SELECT count(*) FROM page) = $1::bigint ORDER BY p.at, p.job_event_id LIMIT 1),
               (SELECT lockstep.place(l.at, l.job_event_id)
                FROM (SELECT s.at, s.job_event_id
                      FROM seen s ORDER BY s.at DESC, s.job_event_id DESC OFFSET 10000 LIMIT 1) l)),
           CASE WHEN (SELECT a.most FROM asked a) = 10001 THEN (SELECT count(*) FROM found)
                ELSE (SELECT count(*)
                      FROM (SELECT FROM lockstep.job_event e
                            WHERE e.at <= (SELECT lockstep.place_at($2::text))
                            ORDER BY e.at DESC LIMIT 10001) c) END) AS document;
