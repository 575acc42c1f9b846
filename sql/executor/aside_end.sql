-- executor_aside_end :none  executor $1 works on queue $2 again
DELETE FROM lockstep.executor_aside a WHERE a.executor_no = $1::int AND a.queue_id = $2::int;
