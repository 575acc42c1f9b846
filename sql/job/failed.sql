-- job_failed :one  the firing of token $2 has failed, by dispatcher $1: $3: nothing is known against the job, it is
-- decided again; the reason $4
-- columns: verdict, job, schedule, scheduled_for, run, reason, wait_us, token, look, mark, query, words, late_us
-- words of verdict: fire, skip, miss, queue, cancel, wait, look, ask, error
SELECT d.verdict, d.job, d.schedule, d.scheduled_for, d.run, d.reason, d.wait_us, d.token, d.look, d.mark, d.query,
       d.words, (extract(epoch FROM clock_timestamp() - d.scheduled_for) * 1000000)::bigint AS late_us
FROM lockstep.dispatch_failed(p_by => $1::text, p_token => $2::uuid, p_again => $3::boolean, p_why => $4::text) AS d;
