-- Whether lockstep.watch_table has put its trigger on a table.
CREATE OR REPLACE FUNCTION lockstep.is_watched(p_relation oid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM pg_catalog.pg_trigger t
                   WHERE t.tgrelid = p_relation AND t.tgfoid = 'lockstep.table_changed()'::pg_catalog.regprocedure)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.is_watched(oid) FROM PUBLIC;
