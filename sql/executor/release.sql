-- executor_release :one  releases S of a phase, if it is held, and IX of the phase before ($4), ends the run if that
-- was its last phase, opens the next ($5): phase_id, S held, a later phase is claimed
-- columns: unlocked, ended, verdict, phase_id, previous_phase_id, definitions, conditional, events_wait
-- words of verdict: opened, open, gone, orphans, due, wait, run, paused, external, nothing
-- locks: session
SELECT r.unlocked, r.ended, r.verdict, r.phase_id, r.previous_phase_id, r.definitions, r.conditional, r.events_wait
FROM lockstep.release(
    p_phase_id => $1::bigint, p_shared => $2::boolean, p_followed => $3::boolean, p_intent => $4::bigint,
    p_next => $5::bigint) AS r;
