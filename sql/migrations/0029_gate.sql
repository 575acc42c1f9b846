DROP FUNCTION IF EXISTS lockstep.gate; -- its parameters have changed; the functions are applied after this
