-- job_test_look :one  whether a test of job $1 runs SQL as the tasks' login, and the look at its trigger
-- columns: runs, look
SELECT a.runs, a.look FROM lockstep.job_test_look($1::text) AS a;
