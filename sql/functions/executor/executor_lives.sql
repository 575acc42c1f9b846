-- Does this incarnation hold its liveness lock? Asked with a shared try at transaction level, so that two askers do not
-- see each other and nothing is left over. It asks with the owner's rights: a login that only looks takes no advisory
-- lock where `migrate roles --advisory` reserves them for the other roles. A number without a row is not asked for: a
-- caller that stays in its transaction would keep the next executors from taking their locks.
CREATE OR REPLACE FUNCTION lockstep.executor_lives(p_executor_no int) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM lockstep.executor e WHERE e.executor_no = p_executor_no)
                    THEN NOT pg_try_advisory_xact_lock_shared(lockstep.lock_class('executor'), p_executor_no)
                ELSE false END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executor_lives(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.executor_lives(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
