-- executor_end :none  this incarnation has ended: executor_id, why, the error that ended it (NULL: none)
-- Unless it was drained, its sessions stay listed: a statement of theirs may still be running, and an executor that
-- adopts its tasks ends them first. It waits for slots no more: otherwise each return of a slot would notify for it.
-- By id: after a fail-over or on a copy its number may belong to another incarnation.
WITH gone AS (
    DELETE FROM lockstep.executor_session
    WHERE $2::text = 'drained'
      AND executor_no = (SELECT e.executor_no FROM lockstep.executor e WHERE e.executor_id = $1::uuid)),
waits_no_more AS (
    DELETE FROM lockstep.slot_waiter
    WHERE executor_no = (SELECT e.executor_no FROM lockstep.executor e WHERE e.executor_id = $1::uuid))
UPDATE lockstep.executor SET ended_at = clock_timestamp(), ended_why = $2::text, ended_error = $3::text
WHERE executor_id = $1::uuid AND ended_at IS NULL;
