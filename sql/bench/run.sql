-- bench_run :one  the state of run $1: status, and why
-- columns: status, error
SELECT r.status, COALESCE(r.error, '') AS error FROM lockstep.run r WHERE r.run_id = $1::uuid;
