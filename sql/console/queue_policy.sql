-- console_queue_policy :maybe  changes what $2 names of queue $1 (on_failure, runs, max_attempts, lookahead), because of $3
-- columns: document, told
WITH given AS (
    SELECT p.on_failure, p.runs, p.max_attempts, p.lookahead FROM json_to_record(lockstep.queue_policy($2::json)) AS p (on_failure text, runs text, max_attempts int, lookahead int)),
changed AS (
    UPDATE lockstep.queue q
    SET on_failure = COALESCE(g.on_failure, q.on_failure), runs = COALESCE(g.runs, q.runs), max_attempts = COALESCE(g.max_attempts, q.max_attempts),
        lookahead = COALESCE(g.lookahead, q.lookahead), updated_at = clock_timestamp()
    FROM given g WHERE q.name = $1::text
    RETURNING q.queue_id, q.on_failure, q.runs, q.max_attempts, q.lookahead),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_changed', c.queue_id, concat_ws(': ', concat_ws(', ', 'on_failure ' || g.on_failure, 'runs ' || g.runs, 'max_attempts ' || g.max_attempts, 'lookahead ' || g.lookahead), $3::text)
    FROM changed c CROSS JOIN given g)
SELECT (SELECT to_json(d) FROM (SELECT $1::text AS queue, c.on_failure, c.runs, c.max_attempts, c.lookahead) AS d) AS document,
       pg_notify('lockstep_' || c.queue_id, 'control')::text AS told
FROM changed c;
