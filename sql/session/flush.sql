-- session_flush :one  makes everything that was committed before durable, here and on synchronous standbys, whatever the session's setting is
-- columns: flushed
WITH strict AS MATERIALIZED (SELECT pg_catalog.set_config('synchronous_commit', 'on', true) AS setting)
SELECT pg_catalog.pg_logical_emit_message(true, 'lockstep', '') AS flushed FROM strict;
