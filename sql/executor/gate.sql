-- executor_gate :one  one slice at the gate: run_no, own oldest phase not seen open, slice in ms, executor_no. The count of changes is read when it has waited
SELECT g.verdict, g.phase_id, g.previous_phase_id, g.wait_ms, g.conditional, g.tells, lockstep.definitions_changes()
FROM lockstep.gate($1::bigint, $2::bigint, $3::int, $4::int) AS g;
