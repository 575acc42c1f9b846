-- executor_gate :one  one slice at the gate: own oldest phase not seen open, slice in ms
-- columns: verdict, phase_id, previous_phase_id, definitions, conditional, events_wait, wait_ms
-- words of verdict: opened, open, gone, orphans, due, wait, run, paused, external, nothing
-- locks: session
SELECT g.verdict, g.phase_id, g.previous_phase_id, g.definitions, g.conditional, g.events_wait, g.wait_ms
FROM lockstep.gate($1::bigint, $2::int) AS g;
