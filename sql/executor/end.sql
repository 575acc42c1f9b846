-- executor_end :none  this incarnation has ended: executor_no, why
-- Unless it was drained, its sessions stay listed: a statement of theirs may still be running, and whoever adopts ends it first.
WITH gone AS (DELETE FROM lockstep.executor_session WHERE executor_no = $1::int AND $2::text = 'drained')
UPDATE lockstep.executor SET ended_at = clock_timestamp(), ended_why = $2::text WHERE executor_no = $1::int AND ended_at IS NULL;
