-- console_locks :one  at most $1 locks of Lockstep, of queue $2 (NULL: all), first those for which sessions wait; if $3
-- with the queries of their sessions. hidden: the reason why these are hidden, and the statement that changes that;
-- null: they are shown. may_end: whether the caller may end the session (pg_terminate_backend). The locks of one moment
-- have no second page
-- columns: document
WITH found AS MATERIALIZED (
    SELECT l.*, row_number() OVER (ORDER BY l.state DESC, l.pid) AS no
    FROM lockstep.lock_list() l WHERE $2::text IS NULL OR l.queue = $2::text)
SELECT (lockstep.page(
            (SELECT json_agg(json_build_object(
                                 'kind', f.kind, 'mode', f.mode, 'state', f.state, 'granted', f.state = 'held',
                                 'queue', f.queue, 'run_id', f.run_id, 'order', f."order", 'phase_id', f.phase_id,
                                 'slot_no', f.slot_no, 'executor_id', f.executor_id, 'pid', f.pid,
                                 'login', w.rolname,
                                 'may_end', COALESCE(
                                     (w.rolsuper <= m.rolsuper)
                                     AND (pg_has_role(w.oid, 'USAGE') OR pg_has_role('pg_signal_backend', 'USAGE')),
                                     false),
                                 'application_name', f.application_name, 'host', f.host, 'since', f.since,
                                 'age_s', lockstep.seconds(f.age), 'blocked_by', f.blocked_by,
                                 'query', CASE WHEN $3::boolean AND h.reason IS NULL THEN f.query END) ORDER BY f.no)
             FROM found f
             LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = f.pid
             LEFT JOIN pg_catalog.pg_roles w ON w.oid = a.usesysid
             JOIN pg_catalog.pg_roles m ON m.rolname = current_user
             LEFT JOIN lockstep.sessions_hidden() h ON f.query = '<insufficient privilege>' WHERE f.no <= $1::bigint),
            NULL, (SELECT count(*) FROM found))::jsonb
        || jsonb_build_object(
            'hidden', (
                SELECT to_jsonb(w)
                FROM (
                    SELECT 'what sessions run is shown to operators only' AS reason,
                           CASE WHEN current_setting('role') = 'none'
                                    THEN format('GRANT lockstep_operator TO %I; then sign in again. Or set [console] '
                                                'show_payloads = on.',
                                                session_user)
                                ELSE
                                    'Use a token that may act: lockstep console token create NAME --role operator. Or '
                                    'set [console] show_payloads = on.' END AS hint
                    WHERE NOT $3::boolean
                    UNION ALL
                    SELECT h.reason, h.hint
                    FROM lockstep.sessions_hidden() h
                    WHERE $3::boolean AND EXISTS (SELECT FROM found f WHERE f.query = '<insufficient privilege>')) w
                LIMIT 1)))::json AS document;
