-- executor_risks :many  names that may run code which a task's text does not show: so many at most
SELECT r.name FROM lockstep.session_risks($1::int) AS r (name);
