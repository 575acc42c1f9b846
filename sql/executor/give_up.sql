-- executor_give_up :one  fails what was lost too often: queue_id; how many
-- columns: failed
SELECT lockstep.give_up($1::int) AS failed;
