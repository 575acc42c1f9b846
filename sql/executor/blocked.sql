-- executor_blocked :none  an open transaction holds back what lies in queue $1 from offset $2 on, since $3 seconds;
-- NULL: not any more
WITH changed AS (
    UPDATE lockstep.queue q
    SET blocked_offset = $2::bigint,
        blocked_at = CASE WHEN $2::bigint IS NOT NULL THEN clock_timestamp() - make_interval(secs => $3::float8) END
    WHERE q.queue_id = $1::int AND q.blocked_offset IS DISTINCT FROM $2::bigint
    RETURNING q.queue_id)
INSERT INTO lockstep.event_log (event, queue_id, detail)
SELECT CASE WHEN $2::bigint IS NULL THEN 'transaction_ended' ELSE 'blocked_by_transaction' END, c.queue_id,
       'offset ' || $2::bigint
FROM changed c;
