-- job_left :one  how many schedules were due at $1 and are not decided, and the first of them
-- columns: count, job, schedule
SELECT count(*) AS count, (array_agg(j.name ORDER BY s.wake_at, s.schedule_id))[1] AS job,
       (array_agg(s.name ORDER BY s.wake_at, s.schedule_id))[1] AS schedule
FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE s.is_active AND s.wake_at <= $1::timestamptz;
