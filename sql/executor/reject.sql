-- executor_reject :one  rejects records that name no run; see sql/functions/claim/reject.sql for parameters and result
-- columns: verdict, next_offset, first_offset
-- words of verdict: rejected, moved, behind, paused, halted
SELECT r.verdict, r.next_offset, r.first_offset
FROM lockstep.reject($1::int, $2::int, $3::bigint, $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bytea[], $9::bytea[],
                     $10::bigint[], $11::text[], $12::bytea[], $13::bigint, $14::bytea) AS r;
