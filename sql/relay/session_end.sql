-- relay_session_end :none  the relay's session ends: executor_no, pid, backend start
DELETE FROM lockstep.executor_session WHERE executor_no = $1::int AND pid = $2::int AND backend_start = $3::timestamptz;
