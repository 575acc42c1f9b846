-- console_run_end :one  closes run $1, whose end never comes, because of $2
-- columns: document
SELECT json_build_object('run_id', $1::uuid, 'status', e.status, 'unfinished', e.unfinished) AS document
FROM lockstep.run_end($1::uuid, $2::text) AS e;
