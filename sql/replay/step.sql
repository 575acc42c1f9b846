-- replay_step :many  deals with a segment; see sql/functions/replay/replay_step.sql
-- columns: action, why, records, run_id, order
-- words of action: make, reopen, skip, wait, refused
SELECT s.action, s.why, s.records, s.run_id, s."order"
FROM lockstep.replay_step($1::int, $2::text, $3::uuid, $4::uuid, $5::bigint, $6::bigint, $7::bigint[], $8::bigint[], $9::text[],
                          $10::text[], $11::int[], $12::text[], $13::text, $14::text, $15::bytea, $16::bytea[], $17::bigint[],
                          $18::text[], $19::bytea[], $20::bigint, $21::bigint, $22::boolean, $23::boolean) AS s;
