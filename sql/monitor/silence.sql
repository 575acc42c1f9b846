-- monitor_silence :one  nothing is raised of job $1 until $2, or for $3 ms (both NULL: again from now on), because of
-- $4
-- columns: until
SELECT lockstep.job_time(date_trunc('second', u.until)) AS until
FROM (SELECT COALESCE($2::timestamptz, clock_timestamp() + $3::bigint * interval '1 millisecond') AS until
      OFFSET 0) AS u,
     LATERAL lockstep.job_silence($1::text, u.until, $4::text);
