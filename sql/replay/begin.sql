-- replay_begin :one  begins a replay or continues with one; see sql/functions/replay/replay_begin.sql
-- parameters: queue_id, resume, mode, from_offset, to_offset, run, order, reason
-- columns: verdict, replay_id, cursor, to_offset, mode, run_id, order
-- words of verdict: begun, resumed, other, ended, unknown, halted
SELECT b.verdict, b.replay_id, b.cursor, b.to_offset, b.mode, b.run_id, b."order"
FROM lockstep.replay_begin($1::int, $2::int, $3::text, $4::bigint, $5::bigint, $6::uuid, $7::bigint, $8::text) AS b;
