-- executor_said :one  keeps what the SQL of ended attempts said: task ids, attempts, rows, notices
-- columns: kept
SELECT lockstep.said($1::bigint[], $2::int[], $3::bigint[], $4::text[]) AS kept;
