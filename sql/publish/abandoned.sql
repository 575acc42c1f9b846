-- publish_abandoned :many  runs of queue $1, but not run $2, whose producer is gone: run, last noted seq, its offset, a
-- pipe?
-- The caller has the producers' lock, so the producers that began these runs do not publish any more.
-- columns: run_id, publish_acked_seq, publish_acked_offset, piped
SELECT run_id, publish_acked_seq, publish_acked_offset, publish_from IS NOT DISTINCT FROM 'pipe' AS piped
FROM lockstep.run
WHERE queue_id = $1::int AND run_id IS DISTINCT FROM $2::uuid AND ended_at IS NULL AND published_at IS NULL
  AND end_offset IS NULL AND publish_acked_seq IS NOT NULL
ORDER BY run_no;
