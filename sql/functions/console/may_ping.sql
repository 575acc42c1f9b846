-- Whether a session may report to watches: as a member of a group that may call lockstep.ping, or because the setting
-- lockstep.token proves a token that may (token_actor).
CREATE OR REPLACE FUNCTION lockstep.may_ping() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT lockstep.may_publish() OR pg_has_role(lockstep.acting_role(), 'lockstep_worker', 'USAGE')
        OR pg_has_role(lockstep.acting_role(), 'lockstep_operator', 'USAGE')
        OR EXISTS (SELECT FROM lockstep.token_proven() c WHERE c.pinger)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.may_ping() FROM PUBLIC;
