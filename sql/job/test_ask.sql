-- job_test_ask :one  what a test of job $1 has to run as the tasks' login
-- columns: look, query, words
SELECT a.look, a.query, a.words FROM lockstep.job_test_ask($1::text) AS a;
