-- console_queue_policy :maybe  changes the members of $2 (on_failure, runs, max_attempts, lookahead) of queue $1,
-- because of $3; changed: one of them had another value
-- columns: document, notified
WITH given AS (
    SELECT p.on_failure, p.runs, p.max_attempts, p.lookahead
    FROM json_to_record(lockstep.queue_policy($2::json))
        AS p (on_failure text, runs text, max_attempts int, lookahead int)),
own AS MATERIALIZED ( -- of two at once the second finds the change of the first
    SELECT q.queue_id, q.on_failure, q.runs, q.max_attempts, q.lookahead
    FROM lockstep.queue q WHERE q.name = $1::text FOR NO KEY UPDATE),
wanted AS (
    SELECT o.queue_id, COALESCE(g.on_failure, o.on_failure) AS on_failure, COALESCE(g.runs, o.runs) AS runs,
           COALESCE(g.max_attempts, o.max_attempts) AS max_attempts, COALESCE(g.lookahead, o.lookahead) AS lookahead
    FROM own o CROSS JOIN given g),
changed AS (
    UPDATE lockstep.queue q
    SET on_failure = w.on_failure, runs = w.runs, max_attempts = w.max_attempts, lookahead = w.lookahead,
        updated_at = clock_timestamp()
    FROM wanted w JOIN own o USING (queue_id)
    WHERE q.queue_id = w.queue_id
      AND (w.on_failure, w.runs, w.max_attempts, w.lookahead) IS DISTINCT FROM (
          o.on_failure, o.runs, o.max_attempts, o.lookahead)
    RETURNING q.queue_id),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_changed', c.queue_id,
           concat_ws(': ',
                     concat_ws(', ', 'on_failure ' || g.on_failure, 'runs ' || g.runs,
                               'max_attempts ' || g.max_attempts, 'lookahead ' || g.lookahead),
                     $3::text)
    FROM changed c CROSS JOIN given g)
SELECT (SELECT to_json(d)
        FROM (SELECT $1::text AS queue, w.on_failure, w.runs, w.max_attempts, w.lookahead,
                     c.queue_id IS NOT NULL AS changed) AS d) AS document,
       CASE WHEN c.queue_id IS NOT NULL THEN pg_notify('lockstep_' || c.queue_id, 'control')::text END AS notified
FROM wanted w LEFT JOIN changed c USING (queue_id);
