DROP FUNCTION IF EXISTS lockstep.claim; -- its parameters have changed; the functions are applied after this
