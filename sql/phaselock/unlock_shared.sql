-- phaselock_unlock_shared :one  gives S of phase $1 back: was it held?
-- columns: held
SELECT lockstep.unlock_shared($1::bigint) AS held;
