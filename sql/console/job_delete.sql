-- console_job_delete :one  deletes job $1, if it is of version $2 (NULL: whichever), because of $3
-- columns: document
SELECT json_build_object('job', $1::text, 'deleted', true) AS document
FROM (SELECT lockstep.job_why($1::text, 'deleted', $3::text) OFFSET 0) AS noted
CROSS JOIN LATERAL (SELECT lockstep.job_delete($1::text, $2::int) OFFSET 0) AS done;
