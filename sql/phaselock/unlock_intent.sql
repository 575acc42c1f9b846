-- phaselock_unlock_intent :one  gives IX of phase $1 back: was it held?
-- columns: held
SELECT lockstep.unlock_intent($1::bigint) AS held;
