-- publish_resume :one  continues a run behind seq, which is on the topic at offset; records_digest is of the records up
-- to there
-- parameters: queue_id, run, from, source, format, digest, bytes, seq, offset, records_digest
-- columns: done
SELECT lockstep.publish_resume(
    p_queue_id => $1::int, p_run => $2::uuid, p_from => $3::text, p_source => $4::text, p_format => $5::text,
    p_digest => $6::text, p_bytes => $7::bigint, p_seq => $8::bigint, p_offset => $9::bigint,
    p_chain => $10::text)::text AS done;
