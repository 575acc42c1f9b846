-- session_settings :many  makes a session ours: name -> value for every setting that this server knows
-- $1: synchronous_commit. $2: the session runs no SQL but ours, each statement of which has an index for all that it reads; so a plan
-- that was made while the tables were small or not analysed is the one that is right when they are large.
SELECT pg_catalog.set_config(s.name, s.value, false)
FROM (VALUES
    ('default_transaction_isolation', 'read committed'),
    ('default_transaction_read_only', 'off'),
    ('default_transaction_deferrable', 'off'),
    ('statement_timeout', '0'),
    ('lock_timeout', '0'),
    ('idle_in_transaction_session_timeout', '300000'),
    ('idle_session_timeout', '0'),
    ('transaction_timeout', '0'),
    ('client_connection_check_interval', '1000'),
    ('tcp_keepalives_idle', '3'),
    ('tcp_keepalives_interval', '1'),
    ('tcp_keepalives_count', '3'),
    ('tcp_user_timeout', '5000'),
    ('standard_conforming_strings', 'on'),
    ('client_encoding', 'UTF8'),
    ('array_nulls', 'on'),
    ('bytea_output', 'hex'),
    ('DateStyle', 'ISO, MDY'),
    ('IntervalStyle', 'postgres'),
    ('synchronous_commit', $1::pg_catalog.text)) AS s (name, value)
WHERE pg_catalog.current_setting(s.name, true) IS NOT NULL
UNION ALL
SELECT pg_catalog.set_config(s.name, s.value, false)
FROM (VALUES
    ('enable_seqscan', 'off'),
    ('enable_hashjoin', 'off'),
    ('enable_mergejoin', 'off'),
    ('max_parallel_workers_per_gather', '0'),
    ('jit', 'off')) AS s (name, value) -- jit: the cost of a scan that cannot be avoided looks immense
WHERE $2::pg_catalog.bool
UNION ALL -- nor does the seed that a task gave to random() stay
SELECT pg_catalog.setseed(pg_catalog.hashtext(pg_catalog.gen_random_uuid()::pg_catalog.text) OPERATOR(pg_catalog./) 2147483648.0)::pg_catalog.text;
