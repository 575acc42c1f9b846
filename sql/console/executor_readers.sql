-- console_executor_readers :one  has executor $1 use $2 readers (NULL: all that it was started with), because of $3;
-- changed: it was another number before
-- columns: document
SELECT json_build_object('executor_id', $1::uuid, 'changed', s.done) AS document
FROM lockstep.executor_set($1::uuid, $2::int, $3::text) AS s (done);
