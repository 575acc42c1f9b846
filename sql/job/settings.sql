-- job_settings :many  a dispatcher that stands still loses its session, and with it the lock: it says something every
-- minute
-- columns: setting
SELECT pg_catalog.set_config('idle_session_timeout', '150s', false) AS setting
WHERE pg_catalog.current_setting('idle_session_timeout', true) IS NOT NULL;
