-- task_list :many  tasks of run $1 (NULL: all), queue $2 (NULL: all), status $3 (NULL: any), the newest $4; of a run:
-- those of its last phases
-- columns: id, queue, run_id, order, seq, name, type, status, attempt, started_at, seconds, error
SELECT v.id, v.queue, v.run_id, v."order", v.seq, v.name, v.type, v.status, v.attempt, v.started_at, v.seconds, v.error
FROM (
    (SELECT t.task_id AS id, q.name AS queue, r.run_id, t."order", t.seq, t.name, t.type, t.status,
            t.attempt_num AS attempt, t.started_at, round(extract(epoch FROM t.duration)::numeric, 3) AS seconds,
            t.error
     FROM lockstep.run r
     JOIN lockstep.queue q ON q.queue_id = r.queue_id
     -- from the last phase on, until there are enough: in the order of an index, so nothing is sorted as a whole
     CROSS JOIN LATERAL (
         SELECT k.task_id, p."order", k.seq, k.name, k.type, k.status, k.attempt_num, k.started_at, k.duration, k.error
         FROM lockstep.phase p CROSS JOIN LATERAL (
             SELECT i.task_id, i.seq, i.name, i.type, i.status, i.attempt_num, i.started_at, i.duration, i.error
             FROM lockstep.task i WHERE i.phase_id = p.phase_id AND ($3::text IS NULL OR i.status = $3::lockstep.status)
             ORDER BY i.kafka_offset DESC LIMIT $4::bigint) k
         WHERE p.run_no = r.run_no ORDER BY p."order" DESC LIMIT $4::bigint) t
     WHERE r.run_no = $1::bigint AND ($2::text IS NULL OR q.name = $2::text))
    UNION ALL
    (SELECT t.task_id, q.name, r.run_id, t."order", t.seq, t.name, t.type, t.status, t.attempt_num, t.started_at,
            round(extract(epoch FROM t.duration)::numeric, 3), t.error
     FROM lockstep.task t
     JOIN lockstep.run r ON r.run_no = t.run_no
     JOIN lockstep.queue q ON q.queue_id = t.queue_id
     WHERE $1::bigint IS NULL AND ($2::text IS NULL OR q.name = $2::text)
       AND ($3::text IS NULL OR t.status = $3::lockstep.status)
     ORDER BY t.task_id DESC LIMIT $4::bigint)) v
ORDER BY v.id;
