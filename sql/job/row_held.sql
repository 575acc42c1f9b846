-- job_row_held :many  at most 20 schedules that have been due for 5 s and whose job a session holds, with the session
-- columns: schedule_id, pid, due, job, schedule, why
SELECT d.schedule_id, h.pid, d.wake_at AS due, d.job, d.schedule, h.why
FROM (SELECT s.schedule_id, s.wake_at, s.job_id, j.name AS job, s.name AS schedule
      FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
      WHERE s.is_active AND s.wake_at < clock_timestamp() - interval '5 s' AND s.asked_until IS NULL
      ORDER BY s.wake_at, s.schedule_id LIMIT 100) d
CROSS JOIN LATERAL lockstep.job_held(d.job_id) AS h
ORDER BY d.wake_at, d.schedule_id, h.pid LIMIT 20;
