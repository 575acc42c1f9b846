-- executor_unfinished :one  is anything of the queue unfinished?
-- columns: unfinished
SELECT EXISTS (SELECT FROM lockstep.phase p CROSS JOIN LATERAL ( -- as in run_finish
                   SELECT FROM lockstep.task t WHERE t.phase_id = p.phase_id
                   AND NOT lockstep.is_finished(t.status)
                   ORDER BY t.kafka_offset DESC LIMIT 1) t -- from the end: the oldest are done first
               WHERE p.queue_id = $1::int AND p.done_at IS NULL) AS unfinished;
