-- SQL that makes the JSON object of a row n of this table. to_jsonb would run the cast to json of a type of the user's,
-- with the rights of lockstep_owner: a column of such a type comes as its text, an array of them as an array of texts;
-- domains as their base types.
CREATE OR REPLACE FUNCTION lockstep.enqueue_columns(p_table oid) RETURNS text LANGUAGE sql STABLE AS $$
    WITH RECURSIVE stands AS ( -- on, for domains; in, for arrays
        SELECT a.attnum, a.attname, a.atttypid AS type, false AS elements
        FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = p_table AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT s.attnum, s.attname, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END,
               s.elements OR t.typtype <> 'd'
        FROM stands s JOIN pg_catalog.pg_type t ON t.oid = s.type
        WHERE s.type >= 16384 AND (t.typtype = 'd' OR t.typcategory = 'A' AND t.typelem <> 0 AND t.typlen = -1)),
    ends AS (
        SELECT s.attnum, s.attname, pg_catalog.bool_or(s.type < 16384) AS builtin,
               pg_catalog.bool_or(s.elements) AS elements
        FROM stands s GROUP BY s.attnum, s.attname)
    SELECT pg_catalog.format(
               'SELECT jsonb_object_agg(c.name, c.value) FROM (VALUES %s) AS c (name, value)',
               COALESCE(pg_catalog.string_agg(
                            pg_catalog.format(
                                CASE WHEN e.builtin THEN '(%L, to_jsonb(n.%I))'
                                     ELSE '(%L, CASE WHEN num_nulls(n.%I) = 0 THEN to_jsonb(format(''%%s'', n.%2$I)'
                                          || CASE WHEN e.elements THEN '::text[]' ELSE '' END || ') END)' END,
                                e.attname, e.attname),
                            ', ' ORDER BY e.attnum),
                        '(NULL::text, NULL::jsonb)'))
    FROM ends e
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_columns(oid) FROM PUBLIC;
