-- session_lock_timeout :one  waits no longer than $1 ms for a row that another session holds: less than its caller
-- waits for an answer
-- columns: setting
SELECT pg_catalog.set_config('lock_timeout', $1::text, false) AS setting;
