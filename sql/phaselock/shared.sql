-- phaselock_shared :one  S of phase $1, one slice of $2 ms: granted?
-- columns: granted
SELECT lockstep.lock_shared($1::bigint, $2::int) AS granted;
