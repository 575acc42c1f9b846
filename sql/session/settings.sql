-- session_settings :many  what the start-up packet cannot set: settings that not every server knows, and those of the
-- line
-- columns: setting
SELECT pg_catalog.set_config(s.name, s.value, false) AS setting
FROM (VALUES
    ('idle_session_timeout', '0'),
    ('transaction_timeout', '0'),
    ('client_connection_check_interval', '1000'),
    ('tcp_keepalives_idle', '3'),
    ('tcp_keepalives_interval', '1'),
    ('tcp_keepalives_count', '3'),
    ('tcp_user_timeout', '5000')) AS s (name, value)
WHERE pg_catalog.current_setting(s.name, true) IS NOT NULL
UNION ALL -- nor does the seed that a task gave to random() stay
SELECT pg_catalog.setseed(
           pg_catalog.hashtext(
               pg_catalog.gen_random_uuid()::pg_catalog.text) OPERATOR(pg_catalog./) 2147483648.0)::pg_catalog.text;
