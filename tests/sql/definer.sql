-- Functions that run with the rights of lockstep_owner: nothing that a caller has made, or has put into its
-- search_path, is run there.
BEGIN;
SELECT plan(12);

CREATE TEMP VIEW definer AS
    SELECT p.oid::regprocedure::text AS name, p.proconfig, p.prosrc FROM pg_proc p
    WHERE p.pronamespace = 'lockstep'::regnamespace AND p.prosecdef;
SELECT cmp_ok((SELECT count(*) FROM definer), '>', 25::bigint, 'there are such functions');
SELECT is((SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_proc p
           WHERE p.pronamespace = 'lockstep'::regnamespace AND p.prosecdef
           AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                       WHERE a.grantee = 0)),
          NULL,
          'PUBLIC may execute none of them');
SELECT is((SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_proc p
           WHERE p.pronamespace = 'lockstep'::regnamespace
           AND p.proowner <> 'lockstep_owner'::regrole), NULL, 'every function belongs to lockstep_owner');
SELECT is((SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_proc p
           WHERE p.pronamespace = 'lockstep'::regnamespace AND p.prosecdef
           AND p.proargtypes::oid[] && ARRAY(SELECT t.oid FROM pg_type t
                                             WHERE t.typtype = 'p' AND t.typname <> 'trigger')),
          NULL,
          'none takes values of any type');

-- A function that runs with the rights of its caller, and a view, call others with the rights of their caller: each
-- role that may use it may execute those, too.
CREATE TEMP VIEW calling AS
    SELECT p.oid::regprocedure::text AS name, p.oid AS function, NULL::oid AS view, m[1] AS called
    FROM pg_proc p, regexp_matches(p.prosrc, 'lockstep\.(\w+)\s*\(', 'g') AS m
    WHERE p.pronamespace = 'lockstep'::regnamespace AND NOT p.prosecdef
    UNION
    SELECT c.oid::regclass::text, NULL, c.oid, m[1]
    FROM pg_class c, regexp_matches(pg_get_viewdef(c.oid), 'lockstep\.(\w+)\s*\(', 'g') AS m
    WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind = 'v';
SELECT is((SELECT string_agg(DISTINCT format('%s calls %s as %s', c.name, c.called, r.rolname), ', ')
           FROM calling c JOIN pg_roles r ON r.rolname LIKE 'lockstep\_%' AND r.rolname <> 'lockstep_owner'
               AND NOT r.rolcanlogin AND NOT r.rolsuper
               AND CASE WHEN c.view IS NULL THEN has_function_privilege(r.oid, c.function, 'EXECUTE')
                        ELSE has_table_privilege(r.oid, c.view, 'SELECT') END
           WHERE EXISTS (SELECT FROM pg_proc g
                         WHERE g.pronamespace = 'lockstep'::regnamespace AND g.proname = c.called)
             AND NOT EXISTS (SELECT FROM pg_proc g
                             WHERE g.pronamespace = 'lockstep'::regnamespace AND g.proname = c.called
                               AND has_function_privilege(r.oid, g.oid, 'EXECUTE'))),
          NULL,
          'whoever may call a function may call those that it calls');

-- A path of its own, or every name and operator qualified: then, without strings, comments and OPERATOR(pg_catalog.x),
-- what is left has no operator but the = of SET and the := of an assignment, none of the words that look one up, and no
-- call without a schema.
CREATE FUNCTION pg_temp.bare(source text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    -- At once: each may have a part of the other in it.
    source := regexp_replace(source, '--[^\n]*|''[^'']*''', '''''', 'g');
    source := regexp_replace(source, 'OPERATOR\(pg_catalog\.[^)]+\)', ' ', 'g');
    source := regexp_replace(source, ':=', ';', 'g');
    source := regexp_replace(source, '(SET|,|USING)(\s+[a-zA-Z_]+) = ', '\1\2 ', 'g');
    RETURN source;
END
$$;
CREATE TEMP VIEW bare AS SELECT name, pg_temp.bare(prosrc) AS source FROM definer WHERE NOT EXISTS (
    SELECT FROM unnest(proconfig) AS s WHERE s = 'search_path=pg_catalog, pg_temp');
SELECT is((SELECT string_agg(name || ': ' || m[1], '; ')
           FROM bare, regexp_matches(source, '([a-z_]*\s*[-+*/<>=~!@#%^&|`?]+\s*\w*)', 'gi') AS m),
          NULL,
          'without a path of its own: no bare operator');
SELECT is((SELECT string_agg(name || ': ' || m[1], '; ') FROM bare,
           regexp_matches(source,
               '\m(IN|BETWEEN|LIKE|ILIKE|SIMILAR|NULLIF|ANY|ALL|CASE\s+(?!WHEN)\S+|DISTINCT '
               'FROM (?!NULL)|USING\s*\(|GREATEST|LEAST)\M',
               'g')
                                                             AS m),
    NULL,
          'nor a word that looks an operator up');
SELECT is((SELECT string_agg(name || ': ' || m[1], '; ')
           FROM bare, regexp_matches(source, '(?<![.\w]|AS )([a-z_]+)\s*\(', 'g') AS m
           WHERE m[1] NOT IN ('definitions', 'outbox')), NULL, 'nor a call without its schema');
SELECT matches(pg_temp.bare('a OPERATOR(pg_catalog.=) b AND c = d'), 'c = d', 'the look finds what it is for');

-- With the rights of the caller and no path of its own: a call or a catalog names its schema, operators need not.
-- tests/unit/functions.py says which functions have a path of their own.
CREATE TEMP VIEW callers AS
    SELECT p.proname, pg_temp.bare(p.prosrc) AS source FROM pg_proc p
    WHERE p.pronamespace = 'lockstep'::regnamespace AND NOT p.prosecdef
      AND NOT coalesce(p.proconfig::text ~ 'search_path', false);
SELECT is((SELECT string_agg(DISTINCT proname || ': ' || m[1], '; ')
           FROM callers, regexp_matches(source, '(?<![.\w]|AS )([a-z_]+)\s*\(', 'g') AS m
           WHERE m[1] IN (SELECT c.proname FROM pg_proc c WHERE c.pronamespace = 'pg_catalog'::regnamespace)), NULL,
          'nor, in those of the caller, one of the catalog');
SELECT is((SELECT string_agg(DISTINCT proname || ': ' || m[1], '; ')
           FROM callers, regexp_matches(source, '\m(?:FROM|JOIN)\s+(pg_\w+)(?!\w|\.)', 'g') AS m
           WHERE m[1] IN (SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'pg_catalog'::regnamespace)), NULL,
          'nor a catalog');

-- A row becomes JSON without any cast of the types that it has.
CREATE FUNCTION pg_temp.none() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(p.proname, ', ') FROM pg_proc p
    WHERE p.prosecdef AND p.pronamespace = 'lockstep'::regnamespace
      AND p.prosrc ~ 'to_json\(|row_to_json|array_to_json|json_agg\(n'
$$;
SELECT is(pg_temp.none(), NULL, 'no function with the owner''s rights makes JSON of a whole row');

SELECT finish();
ROLLBACK;
