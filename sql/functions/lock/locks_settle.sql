-- A lock of a session survives the rollback of the transaction that took it, and a release is not undone with it
-- (PostgreSQL manual, 13.3.5 Advisory Locks): after a statement that failed, even at its commit, the session's locks of
-- phases may differ from those that its owner knows. This session keeps S of p_shared and IX of p_intents and releases
-- all others. The answer is those of them that it does not have: they were released before the statement failed.
CREATE OR REPLACE FUNCTION lockstep.locks_settle(p_shared bigint[], p_intents bigint[])
RETURNS TABLE (phase_id bigint, shared boolean) LANGUAGE plpgsql AS $$
DECLARE
    class CONSTANT int := lockstep.lock_class('phase');
    known CONSTANT int[] := ARRAY(SELECT lockstep.phase_key(p.id, 0) FROM pg_catalog.unnest(p_shared) AS p (id))
        || ARRAY(SELECT lockstep.phase_key(p.id, 1) FROM pg_catalog.unnest(p_intents) AS p (id));
    held int[];
    other int;
    given int;
BEGIN
    LOOP
        held := ARRAY(SELECT ((l.objid::bigint + 2147483648) & 4294967295) - 2147483648
                      FROM pg_catalog.pg_locks l
                      WHERE l.locktype = 'advisory' AND l.pid = pg_catalog.pg_backend_pid()
                        AND l.classid::bigint = class AND l.objsubid = 2 AND l.mode = 'ShareLock' AND l.granted);
        given := 0;
        FOREACH other IN ARRAY held LOOP
            IF other <> ALL (known) THEN
                given := given + pg_catalog.pg_advisory_unlock_shared(class, other)::int;
            END IF;
        END LOOP;
        EXIT WHEN given = 0; -- locks count: one that was taken twice is still there
    END LOOP;
    RETURN QUERY
    SELECT p.id, true FROM pg_catalog.unnest(p_shared) AS p (id) WHERE lockstep.phase_key(p.id, 0) <> ALL (held)
    UNION ALL
    SELECT p.id, false FROM pg_catalog.unnest(p_intents) AS p (id) WHERE lockstep.phase_key(p.id, 1) <> ALL (held);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.locks_settle(bigint[], bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.locks_settle(bigint[], bigint[]) TO lockstep_executor;
