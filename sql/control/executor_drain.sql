-- control_executor_drain :one  has executor $1 end, because of $2
-- columns: done
SELECT lockstep.executor_drain($1::uuid, $2::text) AS done;
