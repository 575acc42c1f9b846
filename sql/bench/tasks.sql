-- bench_tasks :one  the query whose rows are the tasks of a run of bench: each does $1 (NULL: SELECT 1), in $2 phases
-- of $3 tasks
-- columns: query
SELECT format('SELECT p * 10 AS "order", %L AS sql FROM generate_series(1, %s) AS p CROSS JOIN generate_series(1, %s)',
              COALESCE($1::text, 'SELECT 1'), $2::bigint, $3::bigint) AS query;
