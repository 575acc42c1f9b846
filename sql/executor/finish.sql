-- executor_finish :one  ends the run if nothing of it is left: its status, or NULL
SELECT lockstep.run_finish($1::bigint);
