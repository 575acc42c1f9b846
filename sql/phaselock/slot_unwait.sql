-- phaselock_slot_unwait :one  executor $2 waits no longer for slots of queue $1: did it?
-- columns: waited
SELECT lockstep.slot_unwait($1::int, $2::int) AS waited;
