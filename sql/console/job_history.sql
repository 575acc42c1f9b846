-- console_job_history :one  the newest $1 lines of the log of job $3 behind place $2: of kinds $4, with $5 in them,
-- from $6 to $7 (NULL: any); if $8 with the texts of errors. The log of a deleted job is still there; of a job that
-- there never was it is empty. A page looks at 10,001 lines at most, and so does the count: `next` continues where it
-- ended
-- columns: document
WITH seen AS (
    SELECT e.job_event_id, e.at, e.event, e.source, e.message, e.job
    FROM lockstep.job_event e
    WHERE e.job BETWEEN $3::text AND $3::text
      AND (e.at, e.job_event_id) < ((SELECT lockstep.place_at($2::text)), (SELECT lockstep.place_id($2::text)))
      AND e.at BETWEEN COALESCE($6::timestamptz, '-infinity') AND COALESCE($7::timestamptz, 'infinity')
    ORDER BY e.job, e.at DESC, e.job_event_id DESC LIMIT 10001), -- by job_event_of_job
found AS MATERIALIZED (
    SELECT s.job_event_id, s.at
    FROM seen s
    WHERE ($4::text IS NULL OR s.event = ANY (string_to_array($4::text, ',')))
      AND ($5::text IS NULL
           OR strpos(lower(concat_ws(' ', s.source, lockstep.shown('job ' || s.event, s.message, $8::boolean))),
                     lower($5::text)) > 0)
    ORDER BY s.at DESC, s.job_event_id DESC LIMIT 10001),
page AS MATERIALIZED (SELECT f.job_event_id, f.at FROM found f ORDER BY f.at DESC, f.job_event_id DESC LIMIT $1::bigint)
SELECT lockstep.page(
           (SELECT json_agg(i ORDER BY i.at DESC, i.job_event_id DESC)
            FROM (SELECT l.job_event_id, l.at, l.job, l.event, l.event AS kind, l.source,
                         lockstep.shown('job ' || l.event, l.message, $8::boolean) AS message, l.run_id,
                         lockstep.seconds(l.duration) AS duration, l.rows
                  FROM lockstep.job_log l WHERE l.job_event_id = ANY (ARRAY(SELECT job_event_id FROM page))) i),
           'history.' || COALESCE(
               (SELECT lockstep.place(p.at, p.job_event_id)
                FROM page p WHERE (SELECT count(*) FROM page) = $1::bigint ORDER BY p.at, p.job_event_id LIMIT 1),
               (SELECT lockstep.place(l.at, l.job_event_id)
                FROM (SELECT s.at, s.job_event_id
                      FROM seen s ORDER BY s.at DESC, s.job_event_id DESC OFFSET 10000 LIMIT 1) l)),
           (SELECT count(*) FROM found)) AS document;
