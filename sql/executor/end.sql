-- executor_end :none  this incarnation has ended: executor_no, why
WITH gone AS (DELETE FROM lockstep.executor_session WHERE executor_no = $1::int)
UPDATE lockstep.executor SET ended_at = clock_timestamp(), ended_why = $2::text WHERE executor_no = $1::int AND ended_at IS NULL;
