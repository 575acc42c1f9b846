-- The group roles (NOLOGIN; granted to people's own login roles). Roles belong to the whole cluster, so they may be
-- there already, made for another database or by an administrator: then they are verified, not changed.
DO $$
DECLARE
    wanted text;
    found record;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['lockstep_owner', 'lockstep_executor', 'lockstep_task', 'lockstep_producer',
                                  'lockstep_operator', 'lockstep_monitor'] LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted) THEN
                EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', wanted);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL; -- another migrator, on another database of this cluster, was quicker
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION 'role % does not exist and % may not create it', wanted, current_user
                    USING ERRCODE = 'insufficient_privilege',
                          HINT = pg_catalog.format('As a superuser: CREATE ROLE %I NOLOGIN; then run lockstep migrate up again.', wanted);
        END;
        SELECT rolcanlogin, rolsuper, rolcreaterole, rolbypassrls INTO found FROM pg_catalog.pg_roles WHERE rolname = wanted;
        IF found.rolsuper OR found.rolcreaterole OR found.rolcanlogin THEN
            RAISE EXCEPTION 'role % is no plain group role (it may log in, create roles, or is a superuser)', wanted
                USING HINT = pg_catalog.format('ALTER ROLE %I NOLOGIN NOSUPERUSER NOCREATEROLE;', wanted);
        END IF;
    END LOOP;

    -- The executor may do what a task may, so that it may cancel and terminate its sessions; whoever migrates makes
    -- everything in the owner's name. Two migrators, on two databases, may be doing this at once: look again then.
    FOR try IN 1 .. 10 LOOP
        BEGIN
            IF NOT pg_catalog.pg_has_role('lockstep_executor', 'lockstep_task', 'MEMBER') THEN
                GRANT lockstep_task TO lockstep_executor;
            END IF;
            IF NOT pg_catalog.pg_has_role(current_user, 'lockstep_owner', 'MEMBER') THEN
                EXECUTE pg_catalog.format('GRANT lockstep_owner TO %I', current_user);
            END IF;
            EXIT;
        EXCEPTION
            WHEN unique_violation OR internal_error THEN -- "tuple concurrently updated"
                IF try = 10 THEN
                    RAISE;
                END IF;
        END;
    END LOOP;
END
$$;
