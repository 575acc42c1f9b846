-- The sessions whose open transactions have a row locked: p_xmax is the row's xmax, one transaction or a list of them;
-- the table's lock that goes with it rules numbers out that are another thing's. Without our own. pg_locks shows them
-- to everybody.
CREATE OR REPLACE FUNCTION lockstep.row_holders(p_table regclass, p_xmax xid) RETURNS SETOF int
LANGUAGE plpgsql STABLE AS $$
DECLARE
    xids xid[] := ARRAY[p_xmax];
BEGIN
    IF p_xmax = '0'::xid THEN
        RETURN;
    END IF;
    BEGIN
        xids := xids
                || ARRAY(SELECT m.xid FROM pg_catalog.pg_get_multixact_members(p_xmax) AS m WHERE m.mode <> 'keysh');
    EXCEPTION
        WHEN OTHERS THEN NULL; -- it is no list
    END;
    RETURN QUERY
    SELECT DISTINCT x.pid
    FROM pg_catalog.pg_locks x
    JOIN pg_catalog.pg_locks t ON t.pid = x.pid AND t.locktype = 'relation' AND t.relation = p_table::oid AND t.granted
        AND t.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
        AND t.mode IN ('RowShareLock', 'RowExclusiveLock')
    WHERE x.locktype = 'transactionid' AND x.granted AND x.transactionid = ANY (xids)
      AND x.pid <> pg_catalog.pg_backend_pid();
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.row_holders(regclass, xid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.row_holders(regclass, xid)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
