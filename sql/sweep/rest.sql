-- sweep_rest :one  queue_id $1, at most $2 rows of each kind: rejected messages and events of no run; rows deleted
-- columns: deleted
SELECT lockstep.sweep_rest($1::int, $2::int) AS deleted;
