-- replay_end :one  replay $1 is Completed or Abandoned ($2)
-- columns: made, reopened, open_runs
SELECT e.made, e.reopened, array_to_string(e.open_runs, ' ') AS open_runs
FROM lockstep.replay_end($1::int, $2::text) AS e;
