-- publish_start :maybe  queue_id $1, run $2, name $3, on_failure $4, mode $5, from $6, source $7, format $8, digest $9, bytes $10, offset before the run $11: its row, flushed; no row: the run exists
-- Whoever finds a record of this run must find its row, so the commit waits for the disk whatever the session's setting is.
WITH strict AS MATERIALIZED (
    SELECT pg_catalog.set_config('synchronous_commit', 'on', true) AS setting
), started AS (
    INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, published_by, publish_mode, publish_from,
                              publish_source, publish_format, publish_digest, publish_bytes, publish_acked_seq,
                              publish_acked_offset)
    SELECT $2::uuid, $1::int, $3::text, $4::text, 'Publishing', session_user, $5::text, $6::text, $7::text, $8::text, $9::text,
           $10::bigint, -1, $11::bigint
    FROM strict
    ON CONFLICT (queue_id, run_id) DO NOTHING
    RETURNING run_no
), logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, run_no)
    SELECT 'publish_started', $1::int, run_no FROM started
)
SELECT run_no, pg_catalog.pg_logical_emit_message(true, 'lockstep', '') FROM started;
