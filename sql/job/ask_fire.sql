-- job_ask_fire :one  fires with token $1: mark $2 and query $3 with the words $4
-- columns: run
SELECT lockstep.ask_fire(p_token => $1::pg_catalog.uuid, p_mark => $2::pg_catalog.text,
                         p_query => $3::pg_catalog.text, p_words => $4::pg_catalog.jsonb) AS run;
