-- job_ask_fire :one  fires with token $1: mark $2 and query $3 with the words $4
-- columns: run
SELECT lockstep.ask_fire($1::pg_catalog.uuid, $2::pg_catalog.text, $3::pg_catalog.text, $4::pg_catalog.jsonb) AS run;
