-- console_system :one  how the installation is: what SQL can check, versions, the size of the database, the sessions of lockstep, and the tokens
-- columns: document
WITH checks AS (
    SELECT 1 AS no, 'server' AS "check", CASE WHEN pg_is_in_recovery() OR current_setting('fsync') <> 'on' OR current_setting('full_page_writes') <> 'on' THEN 'FAIL' ELSE 'ok' END AS status,
           format('PostgreSQL %s%s, fsync %s, full_page_writes %s', current_setting('server_version'), CASE WHEN pg_is_in_recovery() THEN ', a standby' END,
                  current_setting('fsync'), current_setting('full_page_writes')) AS text,
           CASE WHEN current_setting('fsync') <> 'on' OR current_setting('full_page_writes') <> 'on' THEN 'Set both on: without them a crash of the server loses tasks.' END AS hint
    UNION ALL
    SELECT 2, 'lock table', CASE WHEN h.used * 10 > h.capacity * 8 THEN 'FAIL' WHEN h.used * 2 > h.capacity THEN 'warn' ELSE 'ok' END,
           format('%s of %s locks are in use', h.used, h.capacity), CASE WHEN h.used * 2 > h.capacity THEN 'Raise max_locks_per_transaction.' END
    FROM lockstep.lock_headroom() AS h
    UNION ALL
    SELECT 3, 'queue ' || q.name, 'FAIL', format('it is halted: %s', COALESCE(q.halted_detail, q.halted_reason)), lockstep.halt_remedy(q.queue_id)
    FROM (SELECT b.queue_id, b.name, b.halted_detail, b.halted_reason FROM lockstep.queue b WHERE b.halted_at IS NOT NULL ORDER BY b.name LIMIT 100) q
    UNION ALL
    SELECT 4, 'outbox of queue ' || q.name, 'warn', r.trouble, NULL
    FROM (SELECT b.queue_id, b.trouble FROM lockstep.relay b WHERE b.trouble IS NOT NULL ORDER BY b.queue_id LIMIT 100) r JOIN lockstep.queue q USING (queue_id)
    UNION ALL
    SELECT 5, format('executor %s on %s', e.executor_id, e.host), 'warn', e.trouble, NULL
    FROM (SELECT b.executor_id, b.host, b.trouble FROM lockstep.executor b WHERE b.ended_at IS NULL AND b.trouble IS NOT NULL ORDER BY b.executor_no LIMIT 100) e
    UNION ALL
    SELECT 6, 'alerts', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warn' END, format('%s open', count(*)), CASE WHEN count(*) > 0 THEN 'lockstep alert list' END
    FROM lockstep.alert a WHERE a.closed_at IS NULL),
sessions AS (
    SELECT a.pid, a.usename AS login, a.application_name, host(a.client_addr) AS address, a.backend_start AS since, a.state_change AS last_used, a.state
    FROM pg_catalog.pg_stat_activity a
    WHERE a.datname = current_database() AND a.application_name LIKE 'lockstep%' ORDER BY a.backend_start, a.pid LIMIT 1000)
SELECT json_build_object(
    'checks', (SELECT json_agg(json_build_object('check', c."check", 'status', c.status, 'text', c.text, 'hint', c.hint) ORDER BY c.no, c."check") FROM checks c),
    'sessions', COALESCE((SELECT json_agg(s ORDER BY s.since, s.pid) FROM sessions s), '[]'::json),
    'versions', json_build_object('PostgreSQL', current_setting('server_version'),
        'executors', (SELECT string_agg(DISTINCT e.version, ', ' ORDER BY e.version) FROM lockstep.executor e WHERE e.ended_at IS NULL)),
    'database', json_build_object('name', current_database(), 'size_bytes', pg_database_size(current_database())),
    'tokens', COALESCE((SELECT json_agg(json_build_object('name', t.name, 'role', CASE WHEN t.operator THEN 'operator' ELSE 'monitor' END, 'created_by', t.created_by,
                            'created_at', t.created_at, 'expires_at', t.expires_at, 'last_used_at', t.last_used_at, 'revoked_at', t.revoked_at,
                            'state', CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked' WHEN t.expires_at <= clock_timestamp() THEN 'expired' ELSE 'valid' END) ORDER BY t.token_no)
                        FROM lockstep.console_token t), '[]'::json)) AS document;
