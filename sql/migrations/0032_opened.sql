DROP FUNCTION IF EXISTS lockstep.opened(bigint, int); -- takes several phases now; the functions are applied after this
