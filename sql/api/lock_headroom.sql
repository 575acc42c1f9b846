-- The number of locks that the cluster's lock table is sure to hold, and the number that are in it now, of all
-- databases. When it is full, no login can connect. The real capacity is a little larger (background processes, slack),
-- which is not counted. The locks of serializable transactions (SIReadLock) are in a table of their own.
CREATE OR REPLACE FUNCTION lockstep.lock_headroom() RETURNS TABLE (capacity bigint, used bigint) LANGUAGE sql AS $$
    SELECT pg_catalog.current_setting('max_locks_per_transaction')::bigint
               * (pg_catalog.current_setting('max_connections')::bigint
                  + pg_catalog.current_setting('max_prepared_transactions')::bigint),
           (SELECT pg_catalog.count(*) FROM pg_catalog.pg_locks l WHERE NOT l.fastpath AND l.mode <> 'SIReadLock')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_headroom() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_headroom() TO lockstep_executor, lockstep_operator, lockstep_monitor;
