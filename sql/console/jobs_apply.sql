-- console_jobs_apply :one  makes jobs as the list $1 declares under the name $2, all of them or none: $3 deletes those
-- that were declared under it before and are no more, $4 overwrites changes by hand, $5 changes nothing and only says
-- its effect; because of $6 (NULL: none is said)
-- columns: document
WITH done AS MATERIALIZED (
    SELECT a.job, a.action, a.detail, a.no
    FROM lockstep.job_apply(specs => $1::jsonb, file => $2::text, dry_run => $5::boolean,
                            prune => $3::boolean, force => $4::boolean)
         WITH ORDINALITY AS a (job, action, detail, no)),
noted AS MATERIALIZED (
    SELECT lockstep.job_why(d.job, d.action, $6::text) FROM done d
    WHERE d.action IN ('create', 'change') AND $6::text IS NOT NULL AND NOT $5::boolean)
SELECT json_build_object('file', $2::text, 'dry_run', $5::boolean, 'kept', count(*) FILTER (WHERE d.action = 'kept'),
    'items', COALESCE(json_agg(json_build_object('job', d.job, 'action', d.action, 'detail', d.detail) ORDER BY d.no),
                      '[]'::json)) AS document
FROM done d WHERE (SELECT count(*) FROM noted) >= 0;
