-- session_flush :one  makes all earlier commits durable, here and on synchronous standbys, under any setting
-- time_ms: the server's clock after it, in milliseconds since 1970
-- columns: flushed, time_ms
WITH strict AS MATERIALIZED (SELECT pg_catalog.set_config('synchronous_commit', 'on', true) AS setting)
SELECT pg_catalog.pg_logical_emit_message(true, 'lockstep', '') AS flushed,
    (EXTRACT(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint AS time_ms
FROM strict;
