-- sweep_file :none  what the configuration file says about queue $1: keep_runs $2, keep_days $3, keep_failed_days $4 (NULL: nothing)
-- It holds unless `queue set` has said something else.
UPDATE lockstep.queue q SET keep_runs = $2::int, keep_days = $3::int, keep_failed_days = $4::int
WHERE q.name = $1::text AND q.keep_set_by IS NULL
  AND (q.keep_runs, q.keep_days, q.keep_failed_days) IS DISTINCT FROM ($2::int, $3::int, $4::int);
