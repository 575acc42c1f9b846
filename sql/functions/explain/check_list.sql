-- The findings of `lockstep check` and of the console's System page: is this installation sound, as far as the database
-- can know? subject: the thing that was checked; grade: ok, warn or FAIL; no orders the findings. A queue without an
-- executor, or whose locks another session has taken, is listed only while it has work to do. The plans, and those of
-- the functions that are called for each queue, are made once in a session: so PL/pgSQL, and generic plans.
CREATE OR REPLACE FUNCTION lockstep.check_list()
RETURNS TABLE (no int, subject text, grade text, finding text, hint text)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT 1, 'primary', 'FAIL', 'the server is a standby',
           'Connect to the primary; target_session_attrs=read-write finds it.'
    WHERE pg_catalog.pg_is_in_recovery()
    UNION ALL
    SELECT 2, 'durability', CASE WHEN d.safe THEN 'ok' ELSE 'warn' END,
           pg_catalog.format('fsync is %s, full_page_writes is %s%s', d.fsync, d.pages,
                             CASE WHEN NOT d.safe THEN ': a crash may corrupt the database' END),
           CASE WHEN NOT d.safe THEN 'fsync = on, full_page_writes = on' END
    FROM (SELECT f.fsync, f.pages, f.fsync = 'on' AND f.pages = 'on' AS safe
          FROM (SELECT pg_catalog.current_setting('fsync') AS fsync,
                       pg_catalog.current_setting('full_page_writes') AS pages) AS f) AS d
    UNION ALL
    SELECT 3, 'lock table', g.grade, pg_catalog.format('%s of about %s locks are in use', h.used, h.capacity),
           CASE WHEN g.grade <> 'ok'
                    THEN 'Raise max_locks_per_transaction in postgresql.conf and restart PostgreSQL.' END
    FROM lockstep.lock_headroom() AS h
    CROSS JOIN LATERAL (SELECT CASE WHEN h.capacity - h.used < 200 THEN 'FAIL'
                                    WHEN h.used * 2 > h.capacity THEN 'warn' ELSE 'ok' END AS grade) AS g
    UNION ALL
    SELECT 4, 'queue ' || q.name, 'FAIL',
           pg_catalog.format('halted since %s (%s)%s', pg_catalog.date_trunc('second', q.halted_at), q.halted_reason,
                             ': ' || q.halted_detail),
           lockstep.halt_remedy(q.queue_id)
    FROM lockstep.queue q WHERE q.halted_at IS NOT NULL
    UNION ALL
    SELECT 5, 'queue ' || q.name, 'warn', 'paused by ' || q.paused_by,
           pg_catalog.format('lockstep queue resume %s', q.name)
    FROM lockstep.queue q WHERE q.paused
    UNION ALL
    SELECT 6, 'queue ' || q.name, 'warn', 'its outbox: ' || r.trouble, NULL
    FROM lockstep.relay r JOIN lockstep.queue q USING (queue_id) WHERE r.trouble IS NOT NULL
    UNION ALL
    SELECT 7, 'executors', e.grade, e.sentence, e.helps
    FROM (SELECT DISTINCT ON (x.sentence)
              x.sentence, x.helps,
              CASE WHEN x.reason IN ('executor_silent', 'executor_cut_off', 'topic_unreadable',
                                     'executor_without_login', 'queue_set_aside', 'locks_taken')
                       THEN 'FAIL'
                   ELSE 'warn' END AS grade
          FROM lockstep.queue q
          CROSS JOIN LATERAL (SELECT * FROM lockstep.explain_executors(q.queue_id)
                              UNION ALL
                              SELECT * FROM lockstep.explain_locks(q.queue_id)
                              WHERE EXISTS ( -- any at all: asked once, not for each queue
                                  SELECT FROM pg_catalog.unnest('{phase,slot,executor,relay}'::text[]) AS c (class)
                                  CROSS JOIN LATERAL lockstep.lock_strangers(c.class))) AS x
          WHERE NOT lockstep.explain_blind()
            AND (x.reason NOT IN ('no_executor', 'locks_taken')
                 OR EXISTS (SELECT FROM lockstep.run r WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL))
          ORDER BY x.sentence) AS e
    UNION ALL
    SELECT 8, 'jobs', 'FAIL',
           pg_catalog.format('the lock of dispatch is held by backend %s%s, which is no dispatcher: no job fires',
                             h.pid, ' (' || h.is || ')'),
           pg_catalog.format('End that session: SELECT pg_terminate_backend(%s). What keeps others from these locks: '
                             'lockstep migrate roles --show-sql --advisory',
                             h.pid)
    FROM lockstep.dispatch_held() AS h
    UNION ALL
    SELECT 9, 'dispatcher', CASE WHEN d.due = 0 THEN 'ok' WHEN d.pid IS NULL THEN 'FAIL' ELSE 'warn' END,
           pg_catalog.format('%s%s',
                             CASE WHEN d.pid IS NULL THEN 'none is at work'
                                  ELSE pg_catalog.format('backend %s of %s', d.pid, d.login) END,
                             CASE WHEN d.due > 0 THEN pg_catalog.format(
                                      ', %s %s due for more than a minute', lockstep.counted(d.due, 'schedule'),
                                      CASE WHEN d.due = 1 THEN 'is' ELSE 'are' END) END),
           CASE WHEN d.due > 0 THEN CASE WHEN d.pid IS NULL THEN 'lockstep scheduler run'
                                         ELSE 'lockstep monitor list --problems' END END
    FROM (SELECT h.pid, h.login,
                 (SELECT pg_catalog.count(*)
                  FROM lockstep.schedule s
                  WHERE s.is_active -- and a dispatcher has no query of the job under way, nor a pause after a failure
                    AND GREATEST(s.wake_at, CASE WHEN h.pid IS NOT NULL THEN s.asked_until END)
                        < pg_catalog.clock_timestamp() - interval '1 minute') AS due
          FROM (VALUES (1)) AS one
          LEFT JOIN LATERAL (SELECT o.pid, o.login
                             FROM lockstep.dispatch_holders() AS o WHERE o.is_dispatcher LIMIT 1) AS h ON true) AS d
    WHERE NOT lockstep.explain_blind()
      AND EXISTS (SELECT FROM lockstep.schedule s WHERE s.is_active AND s.wake_at IS NOT NULL)
    UNION ALL
    SELECT 10, 'alerts', CASE WHEN pg_catalog.count(*) = 0 THEN 'ok' ELSE 'warn' END,
           pg_catalog.format('%s open', pg_catalog.count(*)),
           CASE WHEN pg_catalog.count(*) > 0 THEN 'lockstep alert list' END
    FROM lockstep.alert a WHERE a.closed_at IS NULL
    UNION ALL
    SELECT 11, 'monitor', m.grade, m.finding, m.hint FROM lockstep.check_monitors() AS m
    UNION ALL
    SELECT 12, 'receiver ' || r.receiver, CASE WHEN r.is_served THEN 'warn' ELSE 'FAIL' END,
           CASE WHEN r.is_served THEN u.words
                ELSE pg_catalog.concat_ws('; ', 'no monitor that looks sends to it', u.words) END,
           CASE WHEN r.is_served THEN 'lockstep alert list --receivers'
                ELSE pg_catalog.format(
                    'Add [alert:%s] to the configuration of a monitor and start it: lockstep monitor run',
                    r.receiver) END
    FROM lockstep.alert_receiver r
    CROSS JOIN LATERAL (
        SELECT CASE WHEN r.undelivered > 0 THEN pg_catalog.format('%s not delivered since %s%s',
            lockstep.counted(r.undelivered, 'notice'),
            lockstep.job_time(pg_catalog.date_trunc('second', r.undelivered_since)),
            -- a receiver's error may quote the notice
            CASE WHEN lockstep.queries_hidden() THEN '' ELSE ': ' || r.error END)
            END AS words) AS u
    WHERE EXISTS (SELECT FROM lockstep.monitor_status m WHERE m.is_alive)
      AND (NOT r.is_served OR r.undelivered_since < pg_catalog.clock_timestamp() - interval '1 minute');
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.check_list() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.check_list() TO lockstep_executor, lockstep_operator, lockstep_monitor;
