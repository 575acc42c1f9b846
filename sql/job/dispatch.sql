-- job_dispatch :many  decides at most $3 schedules that are due, by dispatcher $1; $2: SQL of users can be run now; $4:
-- due then (NULL: now)
-- columns: verdict, job, schedule, scheduled_for, run, reason, wait_us, token, look, mark, query, words, late_us
-- words of verdict: fire, skip, miss, queue, cancel, wait, look, ask, error
SELECT d.verdict, d.job, d.schedule, d.scheduled_for, d.run, d.reason, d.wait_us, d.token, d.look, d.mark, d.query,
       d.words, (extract(epoch FROM clock_timestamp() - d.scheduled_for) * 1000000)::bigint AS late_us
FROM lockstep.dispatch(p_by => $1::text, p_now => $4::timestamptz, p_asks => $2::boolean, p_most => $3::int) AS d;
