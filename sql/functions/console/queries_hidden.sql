-- Whether queries_shown(false) was called in this transaction: sentences leave out texts that may quote parameters.
CREATE OR REPLACE FUNCTION lockstep.queries_hidden() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.current_setting('lockstep.queries', true) IS NOT DISTINCT FROM 'hidden'
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queries_hidden() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queries_hidden()
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
