-- executor_able :none  the configuration of this executor is new: what it is not able to do is checked again: executor
UPDATE lockstep.executor SET unable = '{}' WHERE executor_no = $1::int AND unable <> '{}';
