-- console_gantt :maybe  run $1 as it is drawn, with $2 columns of time where a phase has many tasks
-- columns: document
SELECT lockstep.run_gantt(n.run_no, $2::int) AS document
FROM (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $1::uuid ORDER BY r.run_no DESC LIMIT 1) n;
