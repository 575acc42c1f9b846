-- phaselock_headroom :one  capacity of the cluster's lock table, locks in it
-- columns: capacity, used
SELECT h.capacity, h.used FROM lockstep.lock_headroom() AS h;
