-- console_system :one  the state of the installation: the findings of `lockstep check`, if $1 with the queries of
-- sessions, versions, the size of the database, the sessions of lockstep (hidden: the reason why some values are
-- hidden, and the statement that changes that; null: all are shown), and the newest 1,000 tokens
-- columns: document
WITH sessions AS (
    SELECT a.pid, a.usename AS login, a.application_name, host(a.client_addr) AS address, a.backend_start AS since,
           a.state_change AS last_used, a.state
    FROM pg_catalog.pg_stat_activity a
    WHERE a.datname = current_database() AND a.application_name LIKE 'lockstep%'
    ORDER BY a.backend_start, a.pid LIMIT 1000)
SELECT json_build_object(
           'checks', CASE WHEN lockstep.queries_shown($1::boolean) THEN (
                              SELECT json_agg(json_build_object('check', c.subject, 'status', c.grade,
                                                                'text', c.finding, 'hint', c.hint)
                                              ORDER BY c.no, c.subject, c.finding)
                              FROM lockstep.check_list() c) END,
           'sessions', COALESCE((SELECT json_agg(s ORDER BY s.since, s.pid) FROM sessions s), '[]'::json),
           'hidden', (SELECT h
                      FROM lockstep.sessions_hidden() h WHERE EXISTS (SELECT FROM sessions s WHERE s.state IS NULL)),
           'versions', json_build_object('PostgreSQL', current_setting('server_version'),
                                         'executors', (SELECT string_agg(DISTINCT e.version, ', ' ORDER BY e.version)
                                                       FROM lockstep.executor e WHERE e.ended_at IS NULL)),
           'database', json_build_object('name', current_database(),
                                         'size_bytes', pg_database_size(current_database())),
           'tokens', COALESCE(
               (SELECT json_agg(json_build_object('name', t.name, 'role', lockstep.token_role(t.operator, t.pinger),
                                                  'publishes', t.producer, 'created_by', t.created_by,
                                                  'created_at', t.created_at, 'expires_at', t.expires_at,
                                                  'last_used_at', t.last_used_at, 'revoked_at', t.revoked_at,
                                                  'state', CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked'
                                                                WHEN t.expires_at <= clock_timestamp() THEN 'expired'
                                                                ELSE 'valid' END) ORDER BY t.token_no)
                FROM (SELECT c.token_no, c.name, c.operator, c.producer, c.pinger, c.created_by, c.created_at,
                             c.expires_at, c.last_used_at, c.revoked_at
                      FROM lockstep.console_token c
                      ORDER BY c.token_no DESC LIMIT 1000) t),
               '[]'::json)) AS document;
