-- replay_begin :one  begins a replay or continues with one; see sql/functions/replay/replay_begin.sql
-- parameters: queue_id, resume, mode, from_offset, to_offset, run, order, reason, earliest, latest
-- columns: verdict, replay_id, cursor, to_offset, mode, run_id, order
-- words of verdict: begun, resumed, other, ended, unknown, halted
SELECT b.verdict, b.replay_id, b.cursor, b.to_offset, b.mode, b.run_id, b."order"
FROM lockstep.replay_begin(
    p_queue_id => $1::int, p_replay_id => $2::int, p_mode => $3::text, p_from => $4::bigint, p_to => $5::bigint,
    p_run => $6::uuid, p_order => $7::bigint, p_why => $8::text,
    p_earliest => $9::boolean, p_latest => $10::boolean) AS b;
