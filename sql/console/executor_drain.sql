-- console_executor_drain :one  has executor $1 end, because of $2
-- columns: document
SELECT json_build_object('executor_id', $1::uuid, 'changed', true) AS document
FROM lockstep.executor_drain($1::uuid, $2::text) AS d;
