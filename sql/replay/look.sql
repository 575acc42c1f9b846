-- replay_look :many  the actions of a replay on a segment, without doing them; see
-- sql/functions/replay/replay_judge.sql
-- parameters: queue_id, mode, kind, run, order, offsets, seqs, payloads, seen
-- columns: action, why, records, run_id
-- words of action: make, reopen, skip
-- words of why: missing, duplicate, failed, cancelled, done, unfinished, ahead, rejected, not_needed, differs,
--          no_beginning, retention, continued, deleted
-- The program adds deleted, for records that are no longer on the topic (replay/range.c).
SELECT j.action, j.why, count(*) AS records, j.run_id
FROM lockstep.replay_judge(
    p_queue_id => $1::int, p_mode => $2::text, p_kind => $3::text, p_run => $4::uuid, p_order => $5::bigint,
    p_offsets => $6::bigint[], p_seqs => $7::bigint[], p_payloads => $8::text[],
    p_seen => COALESCE($9::boolean, false)) AS j
GROUP BY j.action, j.why, j.run_id ORDER BY min(j.n);
