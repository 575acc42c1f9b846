-- Why the login of an executor is refused, as far as the server's tables say, and the statement that helps; NULL: they
-- say nothing.
CREATE OR REPLACE FUNCTION lockstep.login_fault(p_login name) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    own record;
BEGIN
    SELECT r.rolcanlogin, r.rolvaliduntil, pg_catalog.pg_has_role(r.oid, 'lockstep_executor', 'MEMBER') AS may INTO own
    FROM pg_catalog.pg_roles r WHERE r.rolname = p_login;
    RETURN CASE WHEN NOT FOUND THEN pg_catalog.format('there is no login %I any more', p_login)
                WHEN NOT own.rolcanlogin
                    THEN pg_catalog.format('its login may not log in: ALTER ROLE %I LOGIN', p_login)
                WHEN own.rolvaliduntil < pg_catalog.now()
                    THEN pg_catalog.format('the password of its login has expired: ALTER ROLE %I VALID UNTIL %L',
                                           p_login, 'infinity')
                WHEN NOT own.may
                    THEN pg_catalog.format('its login may not execute: GRANT lockstep_executor TO %I', p_login) END;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.login_fault(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.login_fault(name)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
