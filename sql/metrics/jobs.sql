-- metrics_jobs :many  when the newest occurrence of each job that completed had ended
-- columns: job, value
SELECT j.name AS job, round(extract(epoch FROM o.ended_at)::numeric, 3)::text AS value
FROM lockstep.job j CROSS JOIN LATERAL (
    SELECT b.ended_at FROM lockstep.job_occurrence b WHERE b.job_id = j.job_id AND b.status = 'Completed'
    ORDER BY b.scheduled_for DESC LIMIT 1) o
WHERE o.ended_at IS NOT NULL;
