-- session_may :one  may this login call our function of name $1?
-- columns: may
SELECT COALESCE(pg_catalog.bool_or(pg_catalog.has_function_privilege(p.oid, 'EXECUTE')), false) AS may
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = 'lockstep' AND p.proname = $1::text;
