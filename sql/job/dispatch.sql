-- job_dispatch :many  decides at most $3 schedules that are due, by dispatcher $1; $2: SQL of users can be run now
-- columns: verdict, job, schedule, scheduled_for, run, reason, wait_ms, token, look, mark, query, words
-- words of verdict: fire, skip, miss, queue, cancel, wait, look, ask, error
SELECT d.verdict, d.job, d.schedule, d.scheduled_for, d.run, d.reason, d.wait_ms, d.token, d.look, d.mark, d.query, d.words
FROM lockstep.dispatch($1::text, NULL, $2::boolean, $3::int) AS d;
