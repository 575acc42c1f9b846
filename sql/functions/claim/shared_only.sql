-- A claim takes S of a phase at session level. If it then fails, its transaction is undone and S is not. This session
-- keeps S of p_phases and releases that of any other phase (locks A, phase_key(..., 0), are the even keys; the odd ones
-- are of IX and stay). Returns how many that were.
CREATE OR REPLACE FUNCTION lockstep.shared_only(p_phases bigint[]) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    class CONSTANT int := lockstep.lock_class('phase');
    other int;
    count int := 0;
BEGIN
    FOR other IN
        SELECT l.key
        FROM (SELECT ((l.objid::bigint + 2147483648) & 4294967295) - 2147483648 AS key
              FROM pg_catalog.pg_locks l
              WHERE l.locktype = 'advisory' AND l.pid = pg_catalog.pg_backend_pid() AND l.classid::bigint = class
                AND l.objsubid = 2 AND l.mode = 'ShareLock' AND l.granted) AS l
        WHERE l.key & 1 = 0
          AND l.key <> ALL (ARRAY(SELECT lockstep.phase_key(p.id, 0) FROM pg_catalog.unnest(p_phases) AS p (id)))
    LOOP
        IF pg_catalog.pg_advisory_unlock_shared(class, other) THEN
            count := count + 1;
        END IF;
    END LOOP;
    RETURN count;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.shared_only(bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.shared_only(bigint[]) TO lockstep_executor;
