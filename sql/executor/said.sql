-- executor_said :one  keeps what the SQL of ended attempts said: task ids, attempts, rows, notices
-- columns: kept
SELECT lockstep.said(
    p_task_ids => $1::bigint[], p_attempts => $2::int[], p_rows => $3::bigint[], p_notices => $4::text[]) AS kept;
