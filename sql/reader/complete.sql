-- reader_complete :one  records the success of an attempt in the transaction of its effect: task_id, token, started_at
-- or NULL
-- columns: done
SELECT lockstep.complete($1::bigint, $2::uuid, $3::timestamptz) AS done;
