-- phaselock_slot_ghosts :one  free slots of queue $1 whose last backend is still there
SELECT lockstep.slot_ghosts($1::int);
