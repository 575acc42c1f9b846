-- job_ask_check :one  refuses the statement $1 if it cannot run with the words $2, or, $3, if its rows cannot be tasks
-- columns: done
SELECT lockstep.ask_check($1::pg_catalog.text, $2::pg_catalog.jsonb, $3::pg_catalog.bool) AS done;
