-- console_job_silence :one  nothing is raised of job $1 until $2 (NULL: again from now on), because of $3
-- columns: document
SELECT json_build_object('job', $1::text, 'until', $2::timestamptz) AS document
FROM lockstep.job_silence($1::text, $2::timestamptz, $3::text);
