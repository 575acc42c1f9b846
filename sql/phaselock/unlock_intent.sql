-- phaselock_unlock_intent :one  releases IX of phase $1: was it held?
-- columns: held
SELECT lockstep.unlock_intent($1::bigint) AS held;
