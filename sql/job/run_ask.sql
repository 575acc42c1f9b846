-- job_run_ask :one  takes a token to fire job $1 by hand with the parameters $2, if it has SQL of its own
-- columns: token, mark, query, words
SELECT a.token, a.mark, a.query, a.words FROM lockstep.job_run_ask($1::text, $2::jsonb) AS a;
