-- executor_mark_seen :maybe  birthmark $2 was seen on the topic of queue $1, halt_no $3: from now on its absence is a
-- halt. A queue whose own mark was never committed takes over the one that is there: another database reads this topic,
-- too.
-- columns: mark
UPDATE lockstep.queue q SET mark = $2::uuid, marked_at = clock_timestamp()
WHERE q.queue_id = $1::int AND q.halt_no = $3::int AND (q.mark = $2::uuid OR q.marked_at IS NULL)
RETURNING q.mark;
