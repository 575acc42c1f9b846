-- What the functions for workers need of the caller's transaction: READ COMMITTED, because they look at rows after they
-- have locked them; and a commit that is durable, because what a worker does outside cannot be taken back.
CREATE OR REPLACE FUNCTION lockstep.worker_begin() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF pg_catalog.current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'workers need transactions that are READ COMMITTED, this one is %',
                pg_catalog.upper(pg_catalog.current_setting('transaction_isolation'))
            USING ERRCODE = 'LS002', HINT = 'BEGIN ISOLATION LEVEL READ COMMITTED';
    ELSIF pg_catalog.current_setting('synchronous_commit') = 'off' THEN
        PERFORM pg_catalog.set_config('synchronous_commit', 'on', true);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.worker_begin() FROM PUBLIC;
