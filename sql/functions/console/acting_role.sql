-- As whom this session acts: the role that it has set, as a session of the console does for tokens, else its login.
-- Also within functions of lockstep_owner.
CREATE OR REPLACE FUNCTION lockstep.acting_role() RETURNS name LANGUAGE sql STABLE AS $$
    SELECT CASE pg_catalog.current_setting('role') WHEN 'none' THEN session_user
                ELSE pg_catalog.current_setting('role')::name END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.acting_role() FROM PUBLIC;
