-- The lock that a session waits for, in words; NULL: it waits for none. pg_locks shows it to everybody.
CREATE OR REPLACE FUNCTION lockstep.explain_lock(p_pid int) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE l.locktype
               WHEN 'relation' THEN pg_catalog.format('a lock (%s) on table %s', l.mode, l.relation::regclass)
               WHEN 'transactionid' THEN 'a row lock' || COALESCE(
                                             (SELECT ' in table ' || k.relation::regclass FROM pg_catalog.pg_locks k
                                                 WHERE k.pid = p_pid AND k.locktype = 'tuple' LIMIT 1),
                                             ', or the end of transaction ' || l.transactionid)
               WHEN 'tuple' THEN 'a row lock in table ' || l.relation::regclass
               WHEN 'advisory' THEN pg_catalog.format('an advisory lock (%s, %s)', l.classid, l.objid)
               WHEN 'virtualxid' THEN 'the end of transaction ' || l.virtualxid
               ELSE pg_catalog.format('a lock (%s, %s)', l.locktype, l.mode) END
    FROM pg_catalog.pg_locks l WHERE l.pid = p_pid AND NOT l.granted LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_lock(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_lock(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
