-- metrics_jobs :many  when each job was created, and when its newest occurrence that completed had ended; NULL: none is
-- known
-- columns: job, created, success
SELECT j.name AS job, round(extract(epoch FROM j.created_at)::numeric, 3)::text AS created,
       (SELECT round(extract(epoch FROM b.ended_at)::numeric, 3)::text FROM lockstep.job_occurrence b
        WHERE b.job_id = j.job_id AND b.status = 'Completed' ORDER BY b.scheduled_for DESC LIMIT 1) AS success
FROM lockstep.job j;
