-- Called in the transaction of a task that may have changed what the database defines, and counts it if it did: if this session has
-- written to a catalog that session_risks reads. The server counts that itself (it may be a moment old: then once too often); if it
-- was told not to, any such task counts. Qualified as lockstep.complete is, for the same reason.
CREATE OR REPLACE FUNCTION lockstep.definitions_changed() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF pg_catalog.current_setting('track_counts') OPERATOR(pg_catalog.=) 'off' OR EXISTS (
        SELECT FROM pg_catalog.unnest(ARRAY['pg_catalog.pg_proc', 'pg_catalog.pg_class', 'pg_catalog.pg_trigger', 'pg_catalog.pg_rewrite',
            'pg_catalog.pg_attrdef', 'pg_catalog.pg_constraint', 'pg_catalog.pg_policy', 'pg_catalog.pg_index', 'pg_catalog.pg_inherits',
            'pg_catalog.pg_cast', 'pg_catalog.pg_operator', 'pg_catalog.pg_type']::pg_catalog.regclass[]) AS c (oid)
        WHERE pg_catalog.pg_stat_get_xact_tuples_inserted(c.oid) OPERATOR(pg_catalog.>) 0
           OR pg_catalog.pg_stat_get_xact_tuples_updated(c.oid) OPERATOR(pg_catalog.>) 0
           OR pg_catalog.pg_stat_get_xact_tuples_deleted(c.oid) OPERATOR(pg_catalog.>) 0) THEN
        UPDATE lockstep.definitions SET changes = changes OPERATOR(pg_catalog.+) 1;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.definitions_changed TO lockstep_task;
