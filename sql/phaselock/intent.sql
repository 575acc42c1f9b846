-- phaselock_intent :one  IX of phase $1, one slice of $2 ms: granted?
-- columns: granted
SELECT lockstep.lock_intent($1::bigint, $2::int) AS granted;
