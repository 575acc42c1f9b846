-- console_tasks :maybe  $1 tasks of run $2 behind number $3, of the phase of order $4, in states $5, with $6 in their name (NULL: any)
-- columns: document
WITH no AS (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $2::uuid ORDER BY r.run_no DESC LIMIT 1),
found AS (
    SELECT t.task_id FROM no
    CROSS JOIN LATERAL (SELECT p.phase_id FROM lockstep.phase p WHERE p.run_no = no.run_no AND ($4::bigint IS NULL OR p."order" = $4::bigint) OFFSET 0) p
    CROSS JOIN LATERAL (
        SELECT k.task_id FROM lockstep.task k
        WHERE k.phase_id = p.phase_id AND ($3::bigint IS NULL OR k.task_id > $3::bigint) AND ($5::text[] IS NULL OR k.status::text = ANY ($5::text[]))
          AND ($6::text IS NULL OR strpos(lower(k.name), lower($6::text)) > 0)
        OFFSET 0) t
    LIMIT 10001),
page AS (SELECT f.task_id FROM found f ORDER BY f.task_id LIMIT $1::bigint)
SELECT lockstep.page((SELECT json_agg(i ORDER BY i.task_id)
                      FROM (SELECT t.task_id, p."order", t.seq, t.name, t.type, t.status, t.step, t.attempt_num AS attempt, t.max_attempts, t.lost_num AS lost,
                                   t.started_at, lockstep.seconds(t.duration) AS seconds, t.scheduled_for, t.error, e.executor_id, t.cancelled_by
                            FROM lockstep.task t JOIN lockstep.phase p USING (phase_id) LEFT JOIN lockstep.executor e ON e.executor_no = t.executor_no
                            WHERE t.task_id = ANY (ARRAY(SELECT task_id FROM page))) i),
                     (SELECT 'tasks.' || max(task_id) FROM page HAVING count(*) = $1::bigint),
                     (SELECT count(*) FROM found)) AS document
FROM no;
