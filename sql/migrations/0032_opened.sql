DROP FUNCTION IF EXISTS lockstep.opened(bigint, int); -- takes several phases now; the functions are applied after this
DROP FUNCTION IF EXISTS lockstep.phase_nobodys(int, int); -- lockstep.adopt tells of such phases
