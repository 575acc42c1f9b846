-- replay_look :many  what a replay would do with a segment; see sql/functions/replay/replay_judge.sql
-- parameters: queue_id, mode, kind, run, order, offsets, seqs, payloads, seen
-- columns: action, why, records, run_id
-- words of action: make, reopen, skip
-- words of why: missing, duplicate, failed, cancelled, done, unfinished, ahead, rejected, not_needed, differs, no_beginning, retention, continued, deleted
-- deleted is said by the program, of what is no longer on the topic (replay/range.c).
SELECT j.action, j.why, count(*) AS records, j.run_id
FROM lockstep.replay_judge($1::int, $2::text, $3::text, $4::uuid, $5::bigint, $6::bigint[], $7::bigint[], $8::text[], $9::boolean) AS j
GROUP BY j.action, j.why, j.run_id ORDER BY min(j.n);
