-- The right that a visitor without it needs to publish: for a login the group, for a program a token that may.
CREATE OR REPLACE FUNCTION lockstep.publish_hint() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN pg_catalog.current_setting('role') OPERATOR(pg_catalog.=) 'none'
                    THEN pg_catalog.format('GRANT lockstep_producer TO %I;', session_user)
                ELSE
                    'Use a token that may: lockstep console token create NAME --role operator --publish; or sign in as '
                    'a login that is a member of lockstep_producer.' END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_hint() FROM PUBLIC;
