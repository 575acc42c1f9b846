-- publish_resumable :maybe  queue_id $1, run $2: how far its publishing came; a run of another queue only if this one
-- has none of the id ended_at of a run whose end was never claimed: it was cancelled. A run that was closed has its
-- reason in publish_error or error.
-- columns: queue, is_ours, publish_mode, publish_from, publish_source, publish_format, publish_digest, publish_bytes,
--          publish_acked_seq, publish_acked_offset, publish_chain, state, error, is_own, published_by, name, on_failure
-- words of publish_mode: finite, stream
-- words of publish_from: file, pipe, query
-- words of publish_format: jsonl, csv
-- words of state: unfinished, published, aborted, cancelled
SELECT q.name AS queue, r.queue_id = $1::int AS is_ours, r.publish_mode, r.publish_from, r.publish_source,
       r.publish_format, r.publish_digest, r.publish_bytes, r.publish_acked_seq, r.publish_acked_offset,
       r.publish_chain,
       CASE WHEN r.publish_error IS NOT NULL THEN 'aborted' WHEN r.aborted THEN 'aborted'
            WHEN r.published_at IS NOT NULL THEN 'published'
            WHEN r.ended_at IS NOT NULL AND r.end_offset IS NULL THEN 'cancelled' ELSE 'unfinished' END AS state,
       COALESCE(r.publish_error, r.error) AS error, r.published_by IS NOT DISTINCT FROM session_user::text AS is_own,
       r.published_by, r.name, r.on_failure
FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
WHERE r.run_id = $2::uuid
ORDER BY r.queue_id = $1::int DESC LIMIT 1;
