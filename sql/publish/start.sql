-- publish_start :maybe  the row of a run that is published now, flushed; no row: the run exists
-- A reader of the topic that finds a record of this run must find its row, so the commit waits for the disk with any
-- setting of the session.
-- parameters: queue_id, run, name, on_failure, mode, from, source, format, digest, bytes, before_offset
-- columns: run_no, flushed
WITH strict AS MATERIALIZED (
    SELECT pg_catalog.set_config('synchronous_commit', 'on', true) AS setting
)
SELECT started.run_no, pg_catalog.pg_logical_emit_message(true, 'lockstep', '') AS flushed
FROM strict, LATERAL lockstep.publish_start(
    p_queue_id => $1::int, p_run => $2::uuid, p_name => $3::text, p_on_failure => $4::text, p_mode => $5::text,
    p_from => $6::text, p_source => $7::text, p_format => $8::text, p_digest => $9::text, p_bytes => $10::bigint,
    p_offset => $11::bigint) AS started (run_no);
