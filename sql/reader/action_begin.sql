-- reader_action_begin :one  the attempt begins, durably: task_id, token, a step of it?
-- columns: queue, run_id, order, seq, kafka_offset, attempt_num, traceparent
SELECT b.queue, b.run_id, b."order", b.seq, b.kafka_offset, b.attempt_num, b.traceparent
FROM lockstep.action_begin($1::bigint, $2::uuid, $3::boolean) AS b;
