-- executor_claim :one  claims the head of a segment; see sql/functions/claim/claim.sql for parameters and result
-- columns: verdict, next_offset, phase_id, run_no, is_open, took_shared, task_ids, tokens, note, definitions_changes
-- words of verdict: claimed, cancelled, parked, resumed, rejected, bare, ended, moved, behind, lookahead, busy, paused, halted
SELECT c.verdict, c.next_offset, c.phase_id, c.run_no, c.is_open, c.took_shared, c.task_ids, c.tokens, c.note,
       lockstep.definitions_changes()
FROM lockstep.claim($1::int, $2::int, $3::bigint, $4::text, $5::uuid, $6::uuid, $7::bigint, $8::bigint, $9::bigint[],
                    $10::bigint[], $11::text[], $12::text[], $13::int[], $14::text[], $15::bigint, $16::bytea, $17::bigint[],
                    $18::text, $19::text, $20::bytea, $21::bytea[], $22::bigint, $23::bigint, $24::boolean, $25::bigint[],
                    $26::text[], $27::bytea[], $28::boolean, $29::boolean, $30::boolean, $31::boolean) AS c;
