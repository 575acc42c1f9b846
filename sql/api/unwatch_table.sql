-- Takes away what lockstep.watch_table has put on this table.
CREATE OR REPLACE FUNCTION lockstep.unwatch_table(relation pg_catalog.regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE pg_catalog.format('DROP TRIGGER IF EXISTS lockstep_table_changed ON %s', relation);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.unwatch_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.unwatch_table(regclass) TO lockstep_operator, lockstep_producer;
