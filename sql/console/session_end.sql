-- console_session_end :maybe  ends the session $1 with PostgreSQL, if it holds or awaits one of lockstep's locks, because of $2
-- columns: document
SELECT json_build_object('pid', $1::int, 'ended', pg_terminate_backend($1::int), 'reason', $2::text) AS document
FROM lockstep.lock_list() AS l WHERE l.pid = $1::int LIMIT 1;
