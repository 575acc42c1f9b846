-- phaselock_slot_wait :one  registers executor $2 as waiting for slots of queue $1: was it new?
-- columns: fresh
SELECT lockstep.slot_wait($1::int, $2::int) AS fresh;
