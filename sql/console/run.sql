-- console_run :maybe  run $1
-- columns: document
SELECT (SELECT json_build_object('run', i) FROM (
            SELECT s.*, lockstep.seconds(COALESCE(s.ended_at, clock_timestamp()) - s.started_at) AS seconds, r.paused_by, r.paused_at, r.cancelled_by, r.cancelled_at,
                   j.name AS job
            FROM lockstep.run_status s JOIN lockstep.run r USING (run_no) LEFT JOIN lockstep.job j ON j.job_id = r.job_id
            WHERE s.run_no = n.run_no) i) AS document
FROM (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $1::uuid ORDER BY r.run_no DESC LIMIT 1) n;
