-- publish_resume :one  continues a run behind seq, which is on the topic at offset; records_digest is of the records up to there
-- parameters: queue_id, run, from, source, format, digest, bytes, seq, offset, records_digest
-- columns: done
SELECT lockstep.publish_resume($1::int, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::bigint, $8::bigint, $9::bigint, $10::text)::text AS done;
