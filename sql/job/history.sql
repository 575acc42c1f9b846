-- job_history :many  late and seconds in seconds; the $2 latest times of job $1, the latest last, or the newest $2
-- occurrences of all jobs ($1 NULL), the newest last
-- columns: job, schedule, scheduled_for, fired_at, late, outcome, status, source, reason, run_id, ended_at, seconds,
--          missed_from, missed_count, dispatcher
-- Two questions, because each has an index: one of the two is not asked.
SELECT h.job, h.schedule, h.scheduled_for, h.fired_at, round(extract(epoch FROM h.lateness)::numeric, 3) AS late,
       h.outcome, h.status, h.source, h.reason, h.run_id, h.ended_at,
       round(extract(epoch FROM h.duration)::numeric, 3) AS seconds, h.missed_from, h.missed_count, h.dispatcher
FROM lockstep.occurrence h
WHERE h.occurrence_id = ANY (
          CASE WHEN $1::text IS NULL THEN ARRAY(
                   SELECT o.occurrence_id FROM lockstep.job_occurrence o ORDER BY o.occurrence_id DESC LIMIT $2::bigint)
               ELSE ARRAY(SELECT o.occurrence_id
                          FROM lockstep.job_occurrence o
                          WHERE o.job_id = (SELECT j.job_id FROM lockstep.job j WHERE j.name = $1::text)
                          ORDER BY o.scheduled_for DESC, o.occurrence_id DESC LIMIT $2::bigint) END)
ORDER BY CASE WHEN $1::text IS NOT NULL THEN h.scheduled_for END, h.occurrence_id;
