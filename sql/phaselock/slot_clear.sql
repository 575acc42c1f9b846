-- phaselock_slot_clear :one  queue $1, executor $2: the rows of slots $3 name no backend any more; to be committed
-- before the unlock
-- columns: cleared
SELECT lockstep.slot_clear($1::int, $2::int, $3::int[]) AS cleared;
