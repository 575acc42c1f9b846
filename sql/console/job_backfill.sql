-- console_job_backfill :one  fires the times of job $1 from $2 until $3 that have not fired, of schedule $4 (NULL:
-- all), with overlap $5; $6 only reports; because of $7
-- columns: document
SELECT json_build_object('items', COALESCE(
                             json_agg(json_build_object('schedule', b.schedule_name, 'scheduled_for', b.scheduled_for,
                                                        'action', b.action, 'detail', b.detail, 'run_id', b.run_id)
                                      ORDER BY b.scheduled_for, b.schedule_name),
                             '[]'::json)) AS document
FROM (SELECT CASE WHEN NOT $6::boolean THEN lockstep.job_why($1::text, 'backfill', $7::text) END OFFSET 0) AS noted
CROSS JOIN LATERAL lockstep.job_backfill(job => $1::text, "from" => $2::timestamptz, "to" => $3::timestamptz,
                                         schedule => $4::text, overlap => $5::text, dry_run => $6::boolean) AS b;
