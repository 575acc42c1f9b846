-- job_session_end :none  the dispatcher's session of executor $1 ends without the lock: pid, backend start
DELETE FROM lockstep.executor_session WHERE executor_no = $1::int AND pid = $2::int AND backend_start = $3::timestamptz;
