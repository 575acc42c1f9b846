-- job_forecast :many  the next $4 times of job $1 (NULL: all) from $2 (now) until $3
-- columns: at, job, schedule, local
SELECT f.at, f.job_name AS job, f.schedule, f.local
FROM lockstep.job_forecast(job => $1::text, "from" => $2::timestamptz, until => $3::timestamptz, n => $4::int) AS f;
