-- Nothing called them.
DROP FUNCTION IF EXISTS lockstep.slot_ghosts(int);
DROP FUNCTION IF EXISTS lockstep.slot_unwait(int, int);
