-- console_rejected :one  the newest $1 rejected messages before number $2: of queue $3, with $4 in the reason or its
-- detail, rejected from $5 to $6 (NULL: any); of run $8; if $7 with the details. A page looks at 10,001 messages at
-- most, and so does the count: `next` continues where it ended
-- columns: document
WITH seen AS (
    (SELECT m.rejected_id, m.queue_id, m.reason, m.detail, m.rejected_at
     FROM lockstep.rejected_message m
     WHERE $8::uuid IS NULL AND m.rejected_id < COALESCE($2::bigint, 9223372036854775807)
     ORDER BY m.rejected_id DESC LIMIT 10001)
    UNION ALL
    (SELECT m.rejected_id, m.queue_id, m.reason, m.detail, m.rejected_at
     FROM (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $8::uuid ORDER BY r.run_no DESC LIMIT 1) r
     -- by rejected_of_run: a run's are rejected in the order of offsets
     CROSS JOIN LATERAL (SELECT b.rejected_id, b.queue_id, b.reason, b.detail, b.rejected_at
                         FROM lockstep.rejected_message b
                         WHERE b.run_no = r.run_no AND b.rejected_id + 0 < COALESCE($2::bigint, 9223372036854775807)
                         ORDER BY b.run_no DESC, b.kafka_offset DESC LIMIT 10001) m
     WHERE $8::uuid IS NOT NULL)),
found AS MATERIALIZED (
    SELECT s.rejected_id
    FROM seen s
    WHERE ($3::text IS NULL OR s.queue_id = (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $3::text))
      AND ($4::text IS NULL
           OR strpos(lower(concat_ws(' ', s.reason, lockstep.shown('rejected', s.detail, $7::boolean))),
                     lower($4::text)) > 0)
      AND ($5::timestamptz IS NULL OR s.rejected_at >= $5::timestamptz)
      AND ($6::timestamptz IS NULL OR s.rejected_at <= $6::timestamptz)
    ORDER BY s.rejected_id DESC),
page AS MATERIALIZED (SELECT f.rejected_id FROM found f ORDER BY f.rejected_id DESC LIMIT $1::bigint)
SELECT lockstep.page(
           (SELECT json_agg(i ORDER BY i.rejected_id DESC)
            FROM (SELECT r.rejected_id, r.queue, r."offset", r.run_id, r.seq, r.reason,
                         lockstep.shown('rejected', r.detail, $7::boolean) AS detail, octet_length(r.raw) AS bytes,
                         r.rejected_at, r.dead_lettered_at, r.redrive_run, r.redriven_at, r.redriven_by
                  FROM lockstep.rejected r WHERE r.rejected_id = ANY (ARRAY(SELECT rejected_id FROM page))) i),
           'rejected.' || COALESCE((SELECT min(rejected_id) FROM page HAVING count(*) = $1::bigint),
                                   (SELECT s.rejected_id FROM seen s ORDER BY s.rejected_id DESC OFFSET 10000 LIMIT 1)),
           (SELECT count(*) FROM found)) AS document;
