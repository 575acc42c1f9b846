-- executor_server :one  is this the server that the queue knows: queue_id, executor_no, system (NULL: not told), database, timeline
-- columns: verdict, timeline_was, detail
-- words of verdict: same, noted, failed_over, other, unknown
SELECT s.verdict, s.timeline_was, s.detail
FROM lockstep.server_recognise($1::int, $2::int, $3::text, $4::bigint, $5::bigint) AS s;
