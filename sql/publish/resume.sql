-- publish_resume :none  queue_id $1, run $2, from $3, source $4, format $5, digest $6, bytes $7, seq on the topic $8, its offset $9, digest of the records $10: goes on
WITH resumed AS (
    UPDATE lockstep.run
    SET publish_from = $3::text, publish_source = $4::text, publish_format = $5::text, publish_digest = $6::text,
        publish_bytes = $7::bigint, publish_acked_seq = $8::bigint, publish_acked_offset = $9::bigint, publish_chain = $10::text
    WHERE queue_id = $1::int AND run_id = $2::uuid
    RETURNING run_no
)
INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
SELECT 'publish_resumed', $1::int, run_no, pg_catalog.format('with seq %s', $8::bigint + 1) FROM resumed;
