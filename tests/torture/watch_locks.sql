-- tests/torture/watch_locks.sql: looks at the phase locks some fifteen times a second, for as long as the server lives,
-- and says in the server's log (torture-bad) when S and IX of one phase were held together by two sessions. A lock
-- counts as held only while its session is idle and was so before the look: a claim takes S and gives it back when IX
-- is in the way, and that is no grant. One session may have both: a release that was cancelled has kept IX and not yet
-- given S back, until its incarnation ends or its locks are settled (executor/locks.h). Keys:
-- sql/functions/lock/lock_shared_xact.sql; the shared mode of A is S, that of B is IX.
DO $$
DECLARE
    from_at timestamptz;
    locks jsonb;
    found record;
BEGIN
    LOOP
        from_at := clock_timestamp();
        locks := (SELECT jsonb_agg(jsonb_build_object('phase', objid::bigint / 2, 's', objid::bigint % 2 = 0,
                                                      'pid', pid))
                  FROM pg_locks
                  WHERE locktype = 'advisory' AND objsubid = 2 AND classid::bigint = 1280507905 AND mode = 'ShareLock'
                    AND granted
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()));
        PERFORM pg_stat_clear_snapshot();
        FOR found IN
            WITH held AS (SELECT l.* FROM jsonb_to_recordset(locks) AS l (phase bigint, s boolean, pid int)
                          JOIN pg_stat_activity a USING (pid) WHERE a.state = 'idle' AND a.state_change < from_at)
            SELECT s.phase, s.pid AS s, i.pid AS ix
            FROM held s JOIN held i USING (phase) WHERE s.s AND NOT i.s AND s.pid <> i.pid LIMIT 1
        LOOP
            RAISE LOG 'torture-bad matrix: phase %: S is held by % and IX by %', found.phase, found.s, found.ix;
        END LOOP;
        PERFORM nextval('looks_at_locks');
        COMMIT;
        PERFORM pg_sleep(0.06);
    END LOOP;
END $$
