-- console_bars :maybe  what ran in run $1 from millisecond $2 to $3 after its start, a bar an attempt, of the phases of
-- which few enough ran then
-- columns: document
SELECT lockstep.run_bars(n.run_no, $2::bigint / 1000.0, $3::bigint / 1000.0) AS document
FROM (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $1::uuid ORDER BY r.run_no DESC LIMIT 1) n;
