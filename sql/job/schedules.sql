-- job_schedules :many  the schedules of job $1, in words, too (NULL: of all jobs)
-- columns: job, schedule, kind, rule, zone, is_active, next_at, misfire, catchup_window, jitter, waits_for, words,
--          grace
SELECT j.name AS job, s.name AS schedule, s.spec ->> 'kind' AS kind,
       COALESCE(s.spec ->> 'expr',
                (s.spec - '{name,kind,zone,enabled,misfire,catchup_window,jitter,grace}'::text[])::text) AS rule,
       CASE WHEN s.spec ->> 'kind' IN ('interval', 'after', 'rows') THEN s.spec ->> 'zone'
            ELSE COALESCE(s.spec ->> 'zone', 'UTC') END AS zone,
       s.is_active, s.next_at, s.misfire, s.catchup_window, s.jitter, s.queued_for AS waits_for,
       lockstep.schedule_words(s.schedule_id) AS words, s.grace
FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
WHERE $1::text IS NULL OR j.name = $1::text ORDER BY j.name, s.next_at, s.name;
