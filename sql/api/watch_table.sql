-- The dispatcher checks the triggers of jobs on this table as soon as its rows change, not only every check_every: this
-- makes a statement trigger that notifies. With the rights of the caller, which has to own the table. A second call
-- changes nothing; lockstep.unwatch_table removes it.
CREATE OR REPLACE FUNCTION lockstep.watch_table(relation pg_catalog.regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE pg_catalog.format('CREATE OR REPLACE TRIGGER lockstep_table_changed AFTER INSERT OR UPDATE ON %s FOR EACH '
                              'STATEMENT EXECUTE FUNCTION lockstep.table_changed()',
                              relation);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.watch_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.watch_table(regclass) TO lockstep_operator, lockstep_producer;
