-- phaselock_slot_ghosts :one  slots of queue $1 that still name a dead executor
-- columns: ghosts
SELECT lockstep.slot_ghosts($1::int) AS ghosts;
