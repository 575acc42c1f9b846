-- executor_release :one  gives S of a phase back, if it is held, and ends the run if that was the last of it: phase_id, held
SELECT r.unlocked, r.ended FROM lockstep.release($1::bigint, $2::boolean) AS r;
