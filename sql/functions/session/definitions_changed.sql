-- Counts a task that has changed the definitions of the database, so that session_risks may find more: new or changed
-- rows of the catalogs that it reads. The reader calls this behind each task. p_here: in the transaction of the task;
-- else just before the end of it. The server counts rows that a session has written (a moment longer than for its
-- transaction: then once too often); if it is configured not to, any such task counts. Tables that are only temporary
-- do not count, or tasks with them would make all others be cleaned up after: the catalogs are searched for rows of
-- other objects. No SET search_path: docs/explanation/decisions.md.
CREATE OR REPLACE FUNCTION lockstep.definitions_changed(p_here boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    changed pg_catalog.bool;
    tables pg_catalog.bool; -- maybe temporary ones
BEGIN
    SELECT pg_catalog.bool_or(NOT c.tables), pg_catalog.bool_or(c.tables) INTO changed, tables
    FROM (VALUES ('pg_catalog.pg_proc'::pg_catalog.regclass, false), ('pg_catalog.pg_trigger', false),
                 ('pg_catalog.pg_rewrite', false), ('pg_catalog.pg_policy', false), ('pg_catalog.pg_inherits', false),
                 ('pg_catalog.pg_cast', false), ('pg_catalog.pg_operator', false), ('pg_catalog.pg_range', false),
                 ('pg_catalog.pg_class', true), ('pg_catalog.pg_attrdef', true),
                 ('pg_catalog.pg_constraint', true)) AS c (catalog, tables)
    WHERE pg_catalog.pg_stat_get_xact_tuples_inserted(c.catalog) OPERATOR(pg_catalog.>) 0
       OR pg_catalog.pg_stat_get_xact_tuples_updated(c.catalog) OPERATOR(pg_catalog.>) 0;
    IF pg_catalog.current_setting('track_counts') OPERATOR(pg_catalog.=) 'off' OR tables AND NOT p_here THEN
        changed := true;
    ELSIF tables AND changed IS NOT TRUE THEN -- rows of this transaction, or of later ones, are not older than it
        changed := EXISTS (SELECT FROM pg_catalog.pg_class c
                           WHERE pg_catalog.age(c.xmin) OPERATOR(pg_catalog.<=) 0
                             AND c.relpersistence OPERATOR(pg_catalog.<>) 't')
                   OR EXISTS (SELECT FROM pg_catalog.pg_attrdef d
                              JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) d.adrelid
                              WHERE pg_catalog.age(d.xmin) OPERATOR(pg_catalog.<=) 0
                                AND c.relpersistence OPERATOR(pg_catalog.<>) 't')
                   OR EXISTS (SELECT FROM pg_catalog.pg_constraint k
                              WHERE pg_catalog.age(k.xmin) OPERATOR(pg_catalog.<=) 0
                                AND k.contypid OPERATOR(pg_catalog.<>) 0::pg_catalog.oid);
    END IF;
    IF changed THEN
        UPDATE lockstep.definitions SET changes = changes OPERATOR(pg_catalog.+) 1;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.definitions_changed TO lockstep_task;
