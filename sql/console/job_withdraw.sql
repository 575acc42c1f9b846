-- console_job_withdraw :one  withdraws the firings of job $1 that wait for a dispatcher, because of $2
-- columns: document
SELECT json_build_object('job', $1::text, 'withdrawn', w.withdrawn) AS document
FROM (SELECT lockstep.job_withdraw($1::text) AS withdrawn OFFSET 0) AS w
LEFT JOIN LATERAL (
    SELECT lockstep.job_why($1::text, 'withdrawn', $2::text) WHERE w.withdrawn > 0 OFFSET 0) AS y ON true;
