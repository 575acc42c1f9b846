-- bench_run :one  how run $1 stands: status, why
-- columns: status, error
SELECT r.status, COALESCE(r.error, '') AS error FROM lockstep.run r WHERE r.run_id = $1::uuid;
