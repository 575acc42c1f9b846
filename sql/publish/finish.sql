-- publish_finish :none  queue_id $1, run $2, last seq $3, its offset $4, tasks $5, phases $6, digest $7 or NULL: all is published
WITH finished AS (
    UPDATE lockstep.run
    SET published_at = pg_catalog.clock_timestamp(), publish_acked_seq = $3::bigint, publish_acked_offset = $4::bigint,
        publish_digest = COALESCE(publish_digest, $7::text)
    WHERE queue_id = $1::int AND run_id = $2::uuid
    RETURNING run_no
)
INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
SELECT 'run_published', $1::int, run_no, pg_catalog.format('%s tasks in %s phases', $5::bigint, $6::bigint) FROM finished;
