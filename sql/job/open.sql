-- job_open :maybe  an open run of job $1; why: the obstacle that keeps its queue from work, and hint, the act that
-- removes it, or for a run that is open for ten seconds the command that explains it; NULL: there is none
-- columns: run_id, why, hint
SELECT r.run_id,
       CASE WHEN q.halted_reason IS NOT NULL THEN format('queue "%s" is halted', q.name)
            WHEN q.paused THEN format('queue "%s" is paused', q.name)
            WHEN NOT x.lives THEN format('queue "%s" has no executor', q.name)
            WHEN r.created_at < clock_timestamp() - interval '10 s' THEN 'it works or waits' END AS why,
       CASE WHEN q.halted_reason IS NULL AND NOT q.paused AND x.lives THEN format('lockstep run explain %s', r.run_id)
            WHEN q.halted_reason IS NULL AND q.paused THEN format('lockstep queue resume %s', q.name)
            ELSE format('lockstep queue explain %s', q.name) END AS hint
FROM lockstep.run r
JOIN lockstep.job j USING (job_id)
JOIN lockstep.queue q ON q.queue_id = r.queue_id
CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM lockstep.executor e
                                   WHERE e.ended_at IS NULL AND q.name = ANY (e.queues)
                                     AND lockstep.executor_lives(e.executor_no)) AS lives) x
WHERE j.name = $1::text AND r.ended_at IS NULL LIMIT 1;
