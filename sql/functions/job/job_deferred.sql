-- Refuses what the commit would refuse: constraints and triggers that are deferred are checked, and run, now. The
-- caller's subtransaction can then end with one job, and not the transaction with the other jobs of its batch.
CREATE OR REPLACE FUNCTION lockstep.job_deferred() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    SET CONSTRAINTS ALL IMMEDIATE;
    SET CONSTRAINTS ALL DEFERRED; -- for the next job of the transaction
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_deferred() FROM PUBLIC;
