-- A number with its noun, as people write it: 1 task, 2 tasks. It is PL/pgSQL, because each firing calls it.
CREATE OR REPLACE FUNCTION lockstep.counted(p_number bigint, p_noun text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN pg_catalog.concat(p_number, ' ', p_noun, CASE WHEN p_number <> 1 THEN 's' END);
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.counted(bigint, text)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
