-- The relation of this name, which has its schema; NULL: there is none, or it is no name. By the catalog: whose schema
-- it is plays no part.
CREATE OR REPLACE FUNCTION lockstep.job_relation(p_name text) RETURNS oid LANGUAGE plpgsql STABLE AS $$
DECLARE
    parts text[];
BEGIN
    parts := pg_catalog.parse_ident(p_name);
    RETURN (SELECT c.oid
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE pg_catalog.cardinality(parts) = 2 AND n.nspname = parts[1] AND c.relname = parts[2]
              AND c.relkind IN ('r', 'p', 'v', 'm', 'f'));
EXCEPTION
    WHEN invalid_parameter_value THEN
        RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_relation(text) FROM PUBLIC;
