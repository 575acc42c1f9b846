-- control_executor_set :one  has executor $1 use $2 readers, because of $3
-- columns: done
SELECT lockstep.executor_set($1::uuid, $2::int, $3::text) AS done;
