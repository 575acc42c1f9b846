-- executor_aside_keep :none  what incarnation $1 (its id) has set aside is set aside by executor $2, the next
-- incarnation
UPDATE lockstep.executor_aside a SET executor_no = $2::int
FROM lockstep.executor e WHERE e.executor_id = $1::uuid AND a.executor_no = e.executor_no;
