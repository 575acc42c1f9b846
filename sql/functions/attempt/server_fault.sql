-- Is this SQLSTATE the server's fault and not the task's? It lacks disk (53100), memory (53200), connections (53300) or
-- anything else of the kind (53000), its system or its disk fails (58000, 58030). Not temp_file_limit (53400), not a
-- file that COPY does not find (58P01).
CREATE OR REPLACE FUNCTION lockstep.server_fault(p_sqlstate text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT COALESCE(p_sqlstate IN ('53000', '53100', '53200', '53300', '58000', '58030'), false)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.server_fault(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.server_fault(text) TO lockstep_executor;
