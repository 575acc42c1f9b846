-- run_failed :many  the first tasks of run $1 that failed, with the first line of why
-- columns: task, order, name, status, error
SELECT t.task_id AS task, p."order", t.name, t.status, split_part(t.error, E'\n', 1) AS error
FROM lockstep.phase p CROSS JOIN LATERAL ( -- phase by phase, by its index
    SELECT k.task_id, k.name, k.status, k.error, k.kafka_offset FROM lockstep.task k
    WHERE k.phase_id = p.phase_id AND lockstep.is_failed(k.status) ORDER BY k.kafka_offset LIMIT 5) t
WHERE p.run_no = $1::bigint ORDER BY p."order", t.kafka_offset LIMIT 5;
