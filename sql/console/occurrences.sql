-- console_occurrences :one  the newest $1 times of all jobs behind place $2: with outcome $3, of jobs with $4 in their
-- name, decided from $5 to $6 (NULL: any); if $7 with the texts of errors. A page looks at 10,001 times at most, and so
-- does the count: `next` continues where it ended
-- columns: document
WITH seen AS (
    SELECT o.occurrence_id, o.decided_at, o.outcome, o.job_id FROM lockstep.job_occurrence o
    WHERE (o.decided_at, o.occurrence_id) < ((SELECT lockstep.place_at($2::text)), (SELECT lockstep.place_id($2::text)))
      AND o.decided_at BETWEEN COALESCE($5::timestamptz, '-infinity') AND COALESCE($6::timestamptz, 'infinity')
    -- a limit that is not known beforehand, so that the index has the order also where it seems to have few rows
    ORDER BY o.decided_at DESC, o.occurrence_id DESC LIMIT (SELECT 10001)),
found AS MATERIALIZED (
    SELECT s.occurrence_id, s.decided_at
    FROM seen s
    WHERE ($3::text IS NULL OR s.outcome = ANY ((SELECT $3::text[])::text[]))
      AND ($4::text IS NULL
           OR EXISTS (SELECT FROM lockstep.job j
                      WHERE j.job_id = s.job_id AND strpos(lower(j.name), lower($4::text)) > 0))
    ORDER BY s.decided_at DESC, s.occurrence_id DESC),
page AS MATERIALIZED (
    SELECT f.occurrence_id, f.decided_at FROM found f ORDER BY f.decided_at DESC, f.occurrence_id DESC LIMIT $1::bigint)
SELECT lockstep.page(
           (SELECT json_agg(to_jsonb(i) - 'decided_at' ORDER BY i.decided_at DESC, i.occurrence_id DESC)
            FROM (SELECT h.job, h.schedule, h.scheduled_for, h.fired_at, lockstep.seconds(h.lateness) AS lateness,
                         h.outcome, h.source, lockstep.shown('job ' || h.outcome, h.reason, $7::boolean) AS reason,
                         h.run_id, h.status, h.ended_at, lockstep.seconds(h.duration) AS duration, h.missed_from,
                         h.missed_count, h.dispatcher, h.occurrence_id, h.rows, p.decided_at
                  FROM lockstep.occurrence h JOIN page p USING (occurrence_id)
                  WHERE h.occurrence_id = ANY (ARRAY(SELECT occurrence_id FROM page))) i),
           'occurrences.'
           || COALESCE((SELECT lockstep.place(p.decided_at, p.occurrence_id)
                        FROM page p
                        WHERE (SELECT count(*) FROM page) = $1::bigint ORDER BY p.decided_at, p.occurrence_id LIMIT 1),
                       (SELECT lockstep.place(l.decided_at, l.occurrence_id)
                        FROM (SELECT s.decided_at, s.occurrence_id
                              FROM seen s ORDER BY s.decided_at DESC, s.occurrence_id DESC OFFSET 10000 LIMIT 1) l)),
           (SELECT count(*) FROM found)) AS document;
