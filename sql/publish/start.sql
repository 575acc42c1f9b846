-- publish_start :maybe  the row of a run that is published now, flushed; no row: the run exists
-- Whoever finds a record of this run must find its row, so the commit waits for the disk whatever the session's setting is.
-- parameters: queue_id, run, name, on_failure, mode, from, source, format, digest, bytes, before_offset
-- columns: run_no, flushed
WITH strict AS MATERIALIZED (
    SELECT pg_catalog.set_config('synchronous_commit', 'on', true) AS setting
)
SELECT started.run_no, pg_catalog.pg_logical_emit_message(true, 'lockstep', '') AS flushed
FROM strict, LATERAL lockstep.publish_start($1::int, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text,
                                            $10::bigint, $11::bigint) AS started (run_no);
