-- job_asked_run :one  the run $1 that a job has fired, and its queue
-- columns: run_id, queue
SELECT r.run_id, q.name AS queue FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE r.run_id = $1::uuid;
