-- job_looked :one  what the look of token $2 has found, by dispatcher $1: rows $3, the oldest $4, the newest $5; NULL
-- $3: it failed, with $6
-- columns: verdict, job, schedule, scheduled_for, run, reason, wait_us, token, look, mark, query, words, late_us
-- words of verdict: fire, skip, miss, queue, cancel, wait, look, ask, error
SELECT d.verdict, d.job, d.schedule, d.scheduled_for, d.run, d.reason, d.wait_us, d.token, d.look, d.mark, d.query,
       d.words, (extract(epoch FROM clock_timestamp() - d.scheduled_for) * 1000000)::bigint AS late_us
FROM lockstep.dispatch_looked(p_by => $1::text, p_token => $2::uuid, p_rows => $3::bigint,
                              p_oldest => $4::timestamptz, p_newest => $5::timestamptz, p_why => $6::text) AS d;
