-- phaselock_slot_unlock :one  queue $1, executor $2: unlocks slots $3, wakes who waits; how many were held
-- columns: held
-- locks: session
SELECT lockstep.slot_unlock($1::int, $2::int, $3::int[]) AS held;
