-- console_run :maybe  run $1; its tasks are counted to 10,000: lockstep.run_document; if $2 with the texts of errors
-- columns: document
SELECT json_build_object('run', lockstep.run_document(n.run_no, 10000, $2::boolean)) AS document
FROM (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $1::uuid ORDER BY r.run_no DESC LIMIT 1) n;
