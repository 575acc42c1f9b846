-- job_ask_query :one  the rows, an array, of query $1 with the words $2
-- columns: rows
SELECT pg_catalog.to_jsonb(lockstep.ask_query($1::pg_catalog.text, $2::pg_catalog.jsonb)) AS rows;
