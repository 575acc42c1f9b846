-- executor_leave :one  returns tasks that this executor is not able to do: queue, executor, task ids, tokens, needs, lacking
-- columns: left
SELECT lockstep.action_leave($1::int, $2::int, $3::bigint[], $4::uuid[], $5::text[], $6::boolean[]) AS left;
