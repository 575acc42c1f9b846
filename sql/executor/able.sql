-- executor_able :none  the configuration of this executor is new: the needs that it lacks are checked again: executor
UPDATE lockstep.executor SET unable = '{}' WHERE executor_no = $1::int AND unable <> '{}';
