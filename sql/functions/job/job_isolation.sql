-- Refuses to decide on an overlap (any but allow) in a transaction that sees an old state: a run that a dispatcher has
-- begun meanwhile would not be seen, and a second one begin.
CREATE OR REPLACE FUNCTION lockstep.job_isolation(p_overlap text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_overlap IS DISTINCT FROM 'allow'
       AND pg_catalog.current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'in a transaction of isolation % the open runs of a job cannot be seen',
                        pg_catalog.upper(pg_catalog.current_setting('transaction_isolation'))
            USING ERRCODE = 'LS002', HINT = 'Write BEGIN ISOLATION LEVEL READ COMMITTED.';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_isolation(text) FROM PUBLIC;
