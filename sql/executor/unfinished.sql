-- executor_unfinished :one  is anything of the queue unfinished?
-- columns: unfinished
SELECT EXISTS (SELECT FROM lockstep.phase p JOIN lockstep.task t USING (phase_id)
               WHERE p.queue_id = $1::int AND p.done_at IS NULL
                 AND t.status NOT IN ('Completed', 'Failed', 'Cancelled', 'Terminated', 'PartiallyCompleted')) AS unfinished;
