-- job_schedules :many  the schedules of job $1 (NULL: of all)
-- columns: job, schedule, kind, rule, is_active, next_at, misfire, catchup_window, jitter, waits_for
SELECT j.name AS job, s.name AS schedule, s.spec ->> 'kind' AS kind,
       COALESCE(s.spec ->> 'expr', (s.spec - '{name,kind,enabled,misfire,catchup_window,jitter,grace}'::text[])::text) AS rule, s.is_active, s.next_at, s.misfire,
       s.catchup_window, s.jitter, s.queued_for AS waits_for
FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE $1::text IS NULL OR j.name = $1::text ORDER BY j.name, s.next_at, s.name;
