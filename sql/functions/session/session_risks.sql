-- The functions and relations that may run code which a task's text does not show, and so may leave something in the
-- session: functions that are not built in and not written in C, and the relations that lead to one by triggers, rules,
-- defaults, constraints, policies, expressions of indexes, views upon them, partitions, cascades of foreign keys. Names
-- without schemas. '*': everything, because such a function is behind an operator, a cast or a domain, or because there
-- are more than p_most, or too many relations to search. A name too many costs a little time: after a task with such a
-- name the session is cleaned (session_clean).
CREATE OR REPLACE FUNCTION lockstep.session_risks(p_most int) RETURNS SETOF text
LANGUAGE plpgsql STABLE SET jit = off AS $$
DECLARE
    ours CONSTANT oid[] := ARRAY(SELECT n.oid
                                 FROM pg_catalog.pg_namespace n
                                 WHERE n.nspname IN ('pg_catalog', 'information_schema', 'lockstep'));
    -- Built-in functions that change a session or run a text, as a stored expression spells them.
    calls CONSTANT text := (SELECT ':funcid (' || pg_catalog.string_agg(p.oid::text, '|') || ') '
                            FROM pg_catalog.pg_proc p
                            WHERE p.pronamespace = 'pg_catalog'::regnamespace
                              AND p.proname = ANY (
                                  ARRAY['set_config', 'setseed', 'pg_advisory_lock', 'pg_advisory_lock_shared',
                                        'pg_try_advisory_lock', 'pg_try_advisory_lock_shared', 'query_to_xml',
                                        'query_to_xmlschema', 'query_to_xml_and_xmlschema', 'cursor_to_xml',
                                        'cursor_to_xmlschema', 'table_to_xml', 'table_to_xml_and_xmlschema',
                                        'schema_to_xml', 'schema_to_xml_and_xmlschema', 'database_to_xml',
                                        'database_to_xml_and_xmlschema', 'ts_stat', 'ts_rewrite']));
    functions oid[];
    names text[];
BEGIN
    functions := ARRAY(SELECT p.oid
                       FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
                       WHERE p.oid >= 16384 AND p.pronamespace <> ALL (ours)
                         AND (l.lanname NOT IN ('internal', 'c') OR p.prokind = 'a'));
    IF pg_catalog.cardinality(functions) > p_most
       OR (SELECT pg_catalog.count(*)
           FROM (SELECT FROM pg_catalog.pg_class c
                 WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') LIMIT 5001) AS x) > 5000 THEN
        RETURN NEXT '*';
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM pg_catalog.pg_depend d
               WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass AND d.refobjid = ANY (functions)
                 AND (d.classid NOT IN ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_attrdef'::regclass,
                                        'pg_catalog.pg_constraint'::regclass, 'pg_catalog.pg_class'::regclass,
                                        'pg_catalog.pg_rewrite'::regclass, 'pg_catalog.pg_policy'::regclass,
                                        'pg_catalog.pg_trigger'::regclass, 'pg_catalog.pg_event_trigger'::regclass)
                      OR (d.classid = 'pg_catalog.pg_constraint'::regclass
                          AND (SELECT k.conrelid = 0 FROM pg_catalog.pg_constraint k WHERE k.oid = d.objid))))
       OR EXISTS (SELECT FROM pg_catalog.pg_constraint k
                  WHERE k.oid >= 16384 AND k.contypid <> 0 AND k.conbin::text ~ calls) THEN
        RETURN NEXT '*';
        RETURN;
    END IF;
    WITH RECURSIVE depends AS ( -- upon one of them, stored where?
        SELECT d.classid, d.objid
        FROM pg_catalog.pg_depend d
        WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass AND d.refobjid = ANY (functions)),
    own AS MATERIALIZED (
        SELECT c.oid FROM pg_catalog.pg_class c
        WHERE c.oid >= 16384 AND c.relnamespace <> ALL (ours) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')),
    direct AS ( -- OFFSET 0: by the index, and nothing of the system's is read
        SELECT own.oid AS relation
        FROM own, LATERAL (
            SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = own.oid AND t.tgfoid = ANY (functions) OFFSET 0) AS x
        UNION
        SELECT own.oid
        FROM own, LATERAL (SELECT a.oid, a.adbin FROM pg_catalog.pg_attrdef a WHERE a.adrelid = own.oid OFFSET 0) AS x
        WHERE x.adbin::text ~ calls
           OR x.oid IN (SELECT objid FROM depends WHERE classid = 'pg_catalog.pg_attrdef'::regclass)
        UNION
        SELECT own.oid
        FROM own,
             LATERAL (SELECT k.oid, k.conbin
                      FROM pg_catalog.pg_constraint k
                      WHERE k.conrelid = own.oid AND k.contype IN ('c', 'x') OFFSET 0) AS x
        WHERE x.conbin::text ~ calls
           OR x.oid IN (SELECT objid FROM depends WHERE classid = 'pg_catalog.pg_constraint'::regclass)
        UNION
        SELECT own.oid
        FROM own,
             LATERAL (SELECT r.oid, r.ev_action, r.ev_qual
                      FROM pg_catalog.pg_rewrite r WHERE r.ev_class = own.oid OFFSET 0) AS x
        WHERE x.ev_action::text ~ calls OR x.ev_qual::text ~ calls
           OR x.oid IN (SELECT objid FROM depends WHERE classid = 'pg_catalog.pg_rewrite'::regclass)
        UNION
        SELECT own.oid
        FROM own,
             LATERAL (SELECT o.oid, o.polqual, o.polwithcheck
                      FROM pg_catalog.pg_policy o WHERE o.polrelid = own.oid OFFSET 0) AS x
        WHERE x.polqual::text ~ calls OR x.polwithcheck::text ~ calls
           OR x.oid IN (SELECT objid FROM depends WHERE classid = 'pg_catalog.pg_policy'::regclass)
        UNION
        SELECT own.oid
        FROM own,
             LATERAL (SELECT i.indexrelid, i.indexprs, i.indpred
                      FROM pg_catalog.pg_index i WHERE i.indrelid = own.oid OFFSET 0) AS x
        WHERE x.indexprs::text ~ calls OR x.indpred::text ~ calls
           OR x.indexrelid IN (SELECT objid FROM depends WHERE classid = 'pg_catalog.pg_class'::regclass)
        UNION
        SELECT objid FROM depends WHERE classid = 'pg_catalog.pg_class'::regclass
        -- an UPDATE of it is a set_config; so is one of a view upon it
        UNION
        SELECT 'pg_catalog.pg_settings'::regclass),
    leads AS ( -- work on upper leads to lower
        SELECT h.inhparent AS upper, h.inhrelid AS lower FROM pg_catalog.pg_inherits h
        UNION ALL
        SELECT k.confrelid, k.conrelid FROM pg_catalog.pg_constraint k WHERE k.contype = 'f'
        UNION ALL
        SELECT r.ev_class, d.refobjid
        FROM pg_catalog.pg_rewrite r
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
             AND d.refclassid = 'pg_catalog.pg_class'::regclass
        WHERE r.oid >= 16384 AND d.refobjid <> r.ev_class),
    relations AS (
        SELECT relation FROM direct UNION SELECT l.upper FROM relations JOIN leads l ON l.lower = relations.relation)
    SELECT ARRAY(SELECT p.proname::text FROM pg_catalog.pg_proc p WHERE p.oid = ANY (functions)
                 UNION
                 SELECT c.relname
                 FROM relations JOIN pg_catalog.pg_class c ON c.oid = relations.relation
                 WHERE c.relnamespace <> ALL (ours)
                 ORDER BY 1 LIMIT p_most + 1)
    INTO names;
    RETURN QUERY SELECT pg_catalog.unnest(CASE WHEN pg_catalog.cardinality(names) > p_most THEN '{*}' ELSE names END);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.session_risks(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.session_risks(int) TO lockstep_executor;
