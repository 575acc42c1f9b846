-- publish_abort :none  queue_id $1, run $2, seq of its end $3, the end's offset $4, why $5: ended as aborted, or found ended
WITH aborted AS (
    UPDATE lockstep.run
    SET published_at = pg_catalog.clock_timestamp(), publish_acked_seq = $3::bigint, publish_acked_offset = $4::bigint,
        publish_error = $5::text
    WHERE queue_id = $1::int AND run_id = $2::uuid
    RETURNING run_no
)
INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
SELECT 'publish_aborted', $1::int, run_no, $5::text FROM aborted;
