-- console_task_list :one  the newest $1 tasks behind place $2 (run and task), of queue $3, in states $4, with $5 in
-- their name (NULL: any): of the newest run first, there of the last phase first, and there the last message first. If
-- $6 with the texts of errors. Of states that end no task only what has not ended is looked at, of failures only runs
-- that are not Completed. With a state or a name a page looks at 10,001 tasks, and runs without one, at most, and so
-- does the count: `next` continues where it ended. If the task of a place is gone, so are those behind it in its run:
-- retention begins there
-- columns: document
WITH asked AS MATERIALIZED (
    SELECT COALESCE(split_part($2::text, '_', 1)::bigint, 9223372036854775807) AS run_no,
           (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $3::text) AS queue_id,
           $4::text[] IS NOT NULL AND NOT EXISTS (
               SELECT FROM unnest($4::lockstep.status[]) AS s WHERE lockstep.is_finished(s)) AS is_open,
           $4::text[] IS NOT NULL AND NOT EXISTS (
               SELECT FROM unnest($4::lockstep.status[]) AS s WHERE NOT lockstep.is_failed(s)) AS is_failed),
behind AS MATERIALIZED (
    SELECT k.run_no, k."order", k.kafka_offset FROM lockstep.task k
    WHERE k.task_id = split_part($2::text, '_', 2)::bigint AND k.run_no = split_part($2::text, '_', 1)::bigint),
chosen AS (
    (SELECT r.run_no, r.status FROM lockstep.run r
     WHERE $3::text IS NULL AND NOT (SELECT a.is_open FROM asked a) AND r.run_no <= (SELECT a.run_no FROM asked a)
     ORDER BY r.run_no DESC LIMIT 10001)
    UNION ALL
    (SELECT r.run_no, r.status FROM lockstep.run r
     -- by run_newest: of a limit that the planner knows it sorts all runs of the queue
     WHERE $3::text IS NOT NULL AND NOT (SELECT a.is_open FROM asked a)
       AND (r.queue_id::bigint, r.run_no) <= ((SELECT a.queue_id FROM asked a), (SELECT a.run_no FROM asked a))
       AND (r.queue_id::bigint, r.run_no) >= ((SELECT a.queue_id FROM asked a), 0)
     ORDER BY r.queue_id::bigint DESC, r.run_no DESC LIMIT (SELECT 10001))
    UNION ALL
    (SELECT o.run_no, o.status
     FROM (SELECT q.queue_id FROM lockstep.queue q
           WHERE (SELECT a.is_open FROM asked a) AND ($3::text IS NULL OR q.name = $3::text)) q
     CROSS JOIN LATERAL (
         SELECT r.run_no, r.status FROM lockstep.run r -- by run_active
         WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL AND r.run_no <= (SELECT a.run_no FROM asked a)
         ORDER BY r.run_no DESC LIMIT 10001) o
     ORDER BY o.run_no DESC LIMIT 10001)),
seen AS MATERIALIZED ( -- run by run, there phase by phase, and there as its index has them
    SELECT r.run_no, t.task_id, t.status, t.name, row_number() OVER () AS nth
    FROM (SELECT c.run_no, (SELECT b."order" FROM behind b WHERE b.run_no = c.run_no) AS "order",
                 CASE WHEN (c.run_no < (SELECT a.run_no FROM asked a) OR EXISTS (SELECT FROM behind b))
                           AND NOT (c.status = 'Completed' AND (SELECT a.is_failed FROM asked a))
                          THEN c.run_no END AS looked_no -- NULL: its phases are not read; a join filter reads them
          FROM chosen c) r
    LEFT JOIN LATERAL (
        SELECT k.task_id, k.status, k.name
        FROM ((SELECT p.phase_id, p."order" FROM lockstep.phase p
               WHERE NOT (SELECT a.is_open FROM asked a) AND p.run_no = r.looked_no
                 AND p."order" <= COALESCE(r."order", 9223372036854775807)
               ORDER BY p."order" DESC OFFSET 0)
              UNION ALL
              (SELECT p.phase_id, p."order" FROM lockstep.phase p -- by phase_left
               WHERE (SELECT a.is_open FROM asked a) AND p.run_no + 0 = r.looked_no AND p.done_at IS NULL
                 AND p."order" + 0 <= COALESCE(r."order", 9223372036854775807)
               ORDER BY p."order" + 0 DESC OFFSET 0)) p
        CROSS JOIN LATERAL (
            SELECT b.task_id, b.status, b.name FROM lockstep.task b
            WHERE b.phase_id = p.phase_id
              AND b.kafka_offset < CASE WHEN p."order" = r."order" THEN (SELECT h.kafka_offset FROM behind h)
                                        ELSE 9223372036854775807 END
            ORDER BY b.kafka_offset DESC LIMIT 10001) k) t ON true
    LIMIT 10001),
found AS MATERIALIZED (
    SELECT s.run_no, s.task_id, s.nth FROM seen s
    WHERE s.task_id IS NOT NULL AND ($4::text IS NULL OR s.status::text = ANY ((SELECT $4::text[])::text[]))
      AND ($5::text IS NULL OR strpos(lower(s.name), lower($5::text)) > 0)),
page AS MATERIALIZED (SELECT f.run_no, f.task_id, f.nth FROM found f ORDER BY f.nth LIMIT $1::bigint)
SELECT lockstep.page(
    (SELECT json_agg(to_jsonb(i) - 'nth' ORDER BY i.nth)
     FROM (SELECT t.task_id, q.name AS queue, r.run_id, r.name AS run_name, t."order", t.seq, t.name, t.type, t.status,
                  t.step, t.attempt_num AS attempt, t.max_attempts, t.lost_num AS lost, t.started_at,
                  lockstep.seconds(t.duration) AS seconds, t.scheduled_for,
                  lockstep.shown('error', t.error, $6::boolean) AS error, e.executor_id, t.cancelled_by, t.kafka_offset,
                  p.nth
           FROM page p JOIN lockstep.task t ON t.task_id = p.task_id JOIN lockstep.run r ON r.run_no = p.run_no
           JOIN lockstep.queue q ON q.queue_id = r.queue_id
           LEFT JOIN lockstep.executor e ON e.executor_no = t.executor_no
           WHERE t.task_id = ANY (ARRAY(SELECT g.task_id FROM page g))
             AND r.run_no = ANY (ARRAY(SELECT g.run_no FROM page g))) i),
    'tasks.' || COALESCE(
        (SELECT p.run_no || '_' || p.task_id FROM page p
         WHERE (SELECT count(*) FROM page) = $1::bigint ORDER BY p.nth DESC LIMIT 1),
        (SELECT s.run_no || '_' || COALESCE(s.task_id, 0) FROM seen s WHERE s.nth = 10001)),
    (SELECT count(*) FROM found)) AS document;
