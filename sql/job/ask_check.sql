-- job_ask_check :one  refuses the statement $1 if it cannot run with the words $2
-- columns: done
SELECT lockstep.ask_check($1::pg_catalog.text, $2::pg_catalog.jsonb) AS done;
