-- job_ask_look :one  runs the look $1 of a trigger
-- columns: rows, oldest, newest
SELECT l.rows, l.oldest, l.newest FROM lockstep.ask_look($1::pg_catalog.text) AS l;
