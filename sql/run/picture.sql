-- run_picture :one  run $1 as the JSON document that a picture is drawn from
-- columns: document
SELECT lockstep.run_gantt($1::bigint) AS document;
