-- executor_mark_start :maybe  the birthmark of queue $1, a new one if it has none; halt_no $2; no row: another executor
-- makes it
-- It is durable before any executor can commit it to Kafka: a mark that only Kafka knows would be taken for another
-- topic's.
-- columns: mark
WITH durable AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true) AS is)
UPDATE lockstep.queue q
SET mark = COALESCE(q.mark, gen_random_uuid()), marked_at = NULL
FROM durable
WHERE q.queue_id = $1::int AND q.halt_no = $2::int AND q.marked_at IS NULL AND durable.is = 'on'
RETURNING q.mark;
