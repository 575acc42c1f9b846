DROP FUNCTION IF EXISTS lockstep.gate; -- its parameters have changed; the functions are applied after this

-- Few phases are not done, whatever ANALYZE sees at the moment of a large run: else plans go through all that its run has done.
ALTER TABLE lockstep.phase ALTER COLUMN done_at SET STATISTICS 0;
