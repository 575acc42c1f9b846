-- executor_risks :many  names that may run code which a task's text does not show: so many at most; and the count of
-- changes
-- columns: changes, name
SELECT d.changes, r.name
FROM lockstep.definitions d LEFT JOIN lockstep.session_risks($1::int) AS r (name) ON true;
