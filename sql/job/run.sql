-- job_run :one  fires job $1 by hand with the parameters $2
-- columns: run_id, queue
SELECT lockstep.job_run($1::text, $2::jsonb) AS run_id,
       (SELECT q.name FROM lockstep.job j JOIN lockstep.queue q USING (queue_id) WHERE j.name = $1::text) AS queue;
