DROP FUNCTION IF EXISTS lockstep.run_start(int, uuid, boolean, bigint); -- takes the run's first message now; the functions are applied after this
