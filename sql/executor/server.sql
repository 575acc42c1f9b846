-- executor_server :one  is this the server that the queue knows: queue_id, executor_no, system (NULL: not known),
-- database, timeline
-- columns: verdict, timeline_was, detail
-- words of verdict: same, noted, failed_over, other, unknown
SELECT s.verdict, s.timeline_was, s.detail
FROM lockstep.server_recognise(
    p_queue_id => $1::int, p_executor_no => $2::int, p_system => $3::text, p_database => $4::bigint,
    p_timeline => $5::bigint) AS s;
