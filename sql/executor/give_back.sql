-- executor_give_back :one  returns unstarted tasks: queue_id, task ids, tokens
-- columns: given
SELECT lockstep.give_back($1::int, $2::bigint[], $3::uuid[]) AS given;
