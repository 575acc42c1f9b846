-- task_list :many  tasks of run $1 (NULL: all), queue $2 (NULL: all), status $3 (NULL: any), the newest $4
-- columns: id, queue, run_id, order, seq, name, type, status, attempt, started_at, seconds, error
SELECT v.id, v.queue, v.run_id, v."order", v.seq, v.name, v.type, v.status, v.attempt, v.started_at, v.seconds, v.error
FROM (SELECT t.task_id AS id, q.name AS queue, r.run_id, t."order", t.seq, t.name, t.type, t.status, t.attempt_num AS attempt,
             t.started_at, round(extract(epoch FROM t.duration)::numeric, 3) AS seconds, t.error
      FROM lockstep.task t
      JOIN lockstep.run r ON r.run_no = t.run_no
      JOIN lockstep.queue q ON q.queue_id = t.queue_id
      WHERE ($1::bigint IS NULL
             OR t.phase_id = ANY (ARRAY(SELECT p.phase_id FROM lockstep.phase p WHERE p.run_no = $1::bigint)))
          AND ($2::text IS NULL OR q.name = $2::text)
          AND ($3::text IS NULL OR t.status = $3::lockstep.status)
      ORDER BY t.task_id DESC LIMIT $4::bigint) v
ORDER BY v.id;
