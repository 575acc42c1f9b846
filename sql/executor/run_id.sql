-- executor_run_id :maybe  the id of run $1, as commands take it
-- columns: run_id
SELECT run_id FROM lockstep.run WHERE run_no = $1::bigint;
