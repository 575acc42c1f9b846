-- phaselock_shared_try :one  S of phase $1 without waiting: granted?
-- columns: granted
SELECT lockstep.lock_shared_try($1::bigint) AS granted;
