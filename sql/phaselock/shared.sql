-- phaselock_shared :one  S of phase $1, one slice of $2 ms: granted?
SELECT lockstep.lock_shared($1::bigint, $2::int);
