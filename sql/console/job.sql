-- console_job :maybe  job $1, and if $2 its definition, which has SQL and parameters
-- columns: document
SELECT (SELECT json_build_object('job', i) FROM (
            SELECT s.*, CASE WHEN $2::boolean THEN n.spec END AS definition, NOT $2::boolean AS hidden FROM lockstep.job_status s WHERE s.job = n.name) i) AS document
FROM (SELECT j.name, j.spec FROM lockstep.job j WHERE j.name = $1::text) n;
