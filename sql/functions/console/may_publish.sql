-- Whether who asks may publish: as a member of lockstep_producer, or because the setting lockstep.token proves a token
-- that may (token_actor).
CREATE OR REPLACE FUNCTION lockstep.may_publish() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_has_role(lockstep.acting_role(), 'lockstep_producer', 'USAGE')
           OR EXISTS (SELECT FROM lockstep.token_proven() c WHERE c.producer)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.may_publish() FROM PUBLIC;
