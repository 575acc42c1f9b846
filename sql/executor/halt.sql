-- executor_halt :none  the topic is not what it was: stop the queue until an operator accepts it: queue_id, reason, detail
WITH halted AS (
    UPDATE lockstep.queue SET halted_reason = $2::text, halted_detail = $3::text, halted_at = clock_timestamp()
    WHERE queue_id = $1::int AND halted_reason IS NULL RETURNING queue_id)
INSERT INTO lockstep.event_log (event, queue_id, detail)
SELECT 'queue_halted', queue_id, $2::text || ': ' || $3::text FROM halted;
