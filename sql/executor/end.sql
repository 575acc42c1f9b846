-- executor_end :none  this incarnation has ended: executor_no, why
UPDATE lockstep.executor SET ended_at = clock_timestamp(), ended_why = $2::text WHERE executor_no = $1::int AND ended_at IS NULL;
