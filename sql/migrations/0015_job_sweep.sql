-- It has another parameter.
DROP FUNCTION IF EXISTS lockstep.job_sweep(interval);
