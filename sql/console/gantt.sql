-- console_gantt :maybe  run $1 as it is drawn, with $2 columns of time where a phase has many tasks; one of more than
-- 10,000 tasks or 500 phases from a sample
-- columns: document
SELECT CASE WHEN n.tasks <= 10000 AND n.phases <= 500 THEN lockstep.run_gantt(n.run_no, $2::int)
            ELSE lockstep.run_sketch(n.run_no, $2::int) END AS document
FROM (SELECT r.run_no, r.tasks, r.phases
      FROM lockstep.run r WHERE r.run_id = $1::uuid ORDER BY r.run_no DESC LIMIT 1) n;
