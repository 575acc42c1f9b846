-- The sessions for which session p_pid waits in the end: those that block it, those that block these, and so on, down
-- to those that wait for no lock. path: from the session that p_pid waits for down to that one. A prepared transaction
-- has no session (pg_blocking_pids says 0), so it is found by the lock. Each session is visited once: the cost is one
-- look for each session in a queue of waiters.
CREATE OR REPLACE FUNCTION lockstep.explain_blockers(p_pid int)
RETURNS TABLE (pid int, gid text, owner name, database name, prepared timestamptz, path int[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
    MOST CONSTANT int := 100;
    visited int[] := ARRAY[p_pid];
    paths jsonb := pg_catalog.jsonb_build_object(p_pid::text, '[]'::jsonb); -- of each one visited
    blocking int[];
    at int;
    i int := 1;
BEGIN
    WHILE i <= pg_catalog.cardinality(visited) AND i <= MOST LOOP
        at := visited[i];
        i := i + 1;
        blocking := pg_catalog.pg_blocking_pids(at);
        path := ARRAY(SELECT e::int FROM pg_catalog.jsonb_array_elements_text(paths -> at::text) AS e);
        pid := NULL; gid := NULL; owner := NULL; database := NULL; prepared := NULL;
        IF at <> p_pid AND blocking = '{}' THEN
            pid := at;
            RETURN NEXT;
        END IF;
        IF 0 = ANY (blocking) THEN
            FOR gid, owner, database, prepared IN
                SELECT x.gid, x.owner, x.database, x.prepared
                FROM pg_catalog.pg_locks w
                JOIN pg_catalog.pg_locks h ON h.pid IS NULL AND h.granted AND h.locktype = w.locktype
                     AND (h.database, h.relation, h.page, h.tuple, h.virtualxid, h.transactionid, h.classid, h.objid,
                          h.objsubid) IS NOT DISTINCT FROM (w.database, w.relation, w.page, w.tuple, w.virtualxid,
                                                            w.transactionid, w.classid, w.objid, w.objsubid)
                JOIN pg_catalog.pg_locks own ON own.pid IS NULL AND own.granted AND own.locktype = 'transactionid'
                     AND own.virtualtransaction = h.virtualtransaction
                JOIN pg_catalog.pg_prepared_xacts x ON x.transaction = own.transactionid
                WHERE w.pid = at AND NOT w.granted
            LOOP
                RETURN NEXT;
            END LOOP;
        END IF;
        SELECT visited || COALESCE(pg_catalog.array_agg(b.pid), '{}'),
               paths || COALESCE(
                   pg_catalog.jsonb_object_agg(b.pid::text, (paths -> at::text) || pg_catalog.to_jsonb(b.pid)), '{}')
        INTO visited, paths
        FROM (SELECT DISTINCT u.pid
              FROM pg_catalog.unnest(blocking) AS u (pid) WHERE u.pid <> 0 AND u.pid <> ALL (visited)) AS b;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_blockers(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_blockers(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
