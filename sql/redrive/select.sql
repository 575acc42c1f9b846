-- redrive_select :many  rejected messages: those of ids $1, or by queue $2, run_no $3, reason $4 (NULL: any), $5 =
-- redriven ones, too
-- columns: rejected_id, name, queue_id, kafka_offset, reason, detail, raw, redrive_run, redriven_at
SELECT m.rejected_id, q.name, m.queue_id, m.kafka_offset, m.reason, m.detail, m.raw, m.redrive_run, m.redriven_at
FROM lockstep.rejected_message m
JOIN lockstep.queue q USING (queue_id)
WHERE ($2::text IS NULL OR q.name = $2::text)
  AND CASE WHEN $1::bigint[] IS NOT NULL THEN m.rejected_id = ANY ($1::bigint[])
           ELSE ($3::bigint IS NULL OR m.run_no = $3::bigint)
               AND ($4::text IS NULL OR m.reason = $4::text)
               AND (m.reason <> 'duplicate' OR $4::text = 'duplicate') -- the first of the two was taken
               AND (m.redriven_at IS NULL OR $5::boolean) END
ORDER BY m.rejected_id;
