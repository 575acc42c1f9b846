-- executor_finish :one  ends the run if nothing of it is left: its status, or NULL
-- columns: status
SELECT lockstep.run_finish($1::bigint) AS status;
