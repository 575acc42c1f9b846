-- The requirements of the functions for workers on the caller's transaction: READ COMMITTED, because they read rows
-- after they have locked them; and a durable commit, because the work of a worker outside the database cannot be
-- undone.
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
