-- Before a look: whether a transaction that is open now may have written to its watched table. Its statement kept
-- silent if this look was due by then (lockstep.table_changed), and the look will not see its rows: they are looked at
-- once more afterwards.
CREATE OR REPLACE FUNCTION lockstep.dispatch_writers(p_token uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
    SELECT EXISTS (
               SELECT FROM lockstep.job_ask a
               JOIN lockstep.schedule s ON s.schedule_id = a.schedule_id
               JOIN pg_locks l ON l.relation = lockstep.job_relation((s.rows_rule).relation)
               WHERE a.token = p_token AND lockstep.is_watched(l.relation) AND l.locktype = 'relation' AND l.granted
                 AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                 AND l.mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'))
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_writers(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_writers(uuid) TO lockstep_executor;
