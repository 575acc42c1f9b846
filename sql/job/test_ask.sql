-- job_test_ask :many  the queries that a test of job $1 has to run as the tasks' login, at $2 (NULL: now), after a look
-- that has found $3 rows (NULL: none was taken), the oldest $4, the newest $5
-- columns: schedule, query, words
SELECT a.schedule, a.query, a.words
FROM lockstep.job_test_ask($1::text, $2::timestamptz,
                           ROW(NULL, $3::bigint, $4::timestamptz, $5::timestamptz, 0, NULL)::lockstep.rows_look) AS a;
