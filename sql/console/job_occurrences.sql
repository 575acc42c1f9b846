-- console_job_occurrences :maybe  $1 times of job $2 that were decided, the newest first, behind place $3; if $4 with
-- the texts of errors
-- columns: document
WITH job AS (SELECT j.job_id FROM lockstep.job j WHERE j.name = $2::text),
page AS MATERIALIZED (
    SELECT o.occurrence_id, o.scheduled_for
    FROM lockstep.job_occurrence o
    WHERE o.job_id = (SELECT j.job_id FROM job j)
      AND (o.scheduled_for, o.occurrence_id) < ((SELECT lockstep.place_at($3::text)),
                                                (SELECT lockstep.place_id($3::text)))
    ORDER BY o.scheduled_for DESC, o.occurrence_id DESC LIMIT $1::bigint)
SELECT lockstep.page(
           (SELECT json_agg(i ORDER BY i.scheduled_for DESC, i.occurrence_id DESC)
            FROM (SELECT h.job, h.schedule, h.scheduled_for, h.fired_at, lockstep.seconds(h.lateness) AS lateness,
                         h.outcome, h.source, lockstep.shown('job ' || h.outcome, h.reason, $4::boolean) AS reason,
                         h.run_id, h.status, h.ended_at, lockstep.seconds(h.duration) AS duration, h.missed_from,
                         h.missed_count, h.dispatcher, h.occurrence_id, h.rows
                  FROM lockstep.occurrence h WHERE h.occurrence_id = ANY (ARRAY(SELECT occurrence_id FROM page))) i),
           (SELECT 'occurrences.' || lockstep.place(p.scheduled_for, p.occurrence_id)
            FROM page p
            WHERE (SELECT count(*) FROM page) = $1::bigint ORDER BY p.scheduled_for, p.occurrence_id LIMIT 1),
           (SELECT count(*)
            FROM (SELECT FROM lockstep.job_occurrence o WHERE o.job_id = job.job_id LIMIT 10001) c)) AS document
FROM job;
