-- queue_set :maybe  changes a queue where a value is given, tells the executors, and writes it down; no row: no such queue
-- parameters: name, max_readers, on_failure, runs, max_attempts, lookahead, dead_letters, external_lease, retry_intervals, retry_on
-- columns: max_readers, on_failure, runs, max_attempts, lookahead, dead_letters, external_lease_s, retry_intervals, retry_on, told
WITH changed AS (
    UPDATE lockstep.queue q
    SET max_readers = COALESCE($2::int, q.max_readers), on_failure = COALESCE($3::text, q.on_failure),
        runs = COALESCE($4::text, q.runs), max_attempts = CASE WHEN $5::text = 'default' THEN NULL ELSE COALESCE($5::text::int, q.max_attempts) END,
        lookahead = COALESCE($6::int, q.lookahead), dead_letters = COALESCE($7::text::boolean, q.dead_letters),
        external_lease = COALESCE($8::text::interval, q.external_lease),
        retry_intervals = COALESCE(string_to_array($9::text, ',')::float8[], q.retry_intervals),
        retry_on = COALESCE(string_to_array($10::text, ','), q.retry_on), updated_at = clock_timestamp()
    WHERE q.name = $1::text
    RETURNING queue_id, max_readers, on_failure, runs, COALESCE(max_attempts, default_attempts, 3) AS max_attempts, lookahead, dead_letters,
              external_lease, retry_intervals, retry_on),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_changed', c.queue_id,
           concat_ws(', ', 'max_readers ' || $2::int, 'on_failure ' || $3::text, 'runs ' || $4::text,
                     'max_attempts ' || $5::text, 'lookahead ' || $6::int, 'dead_letters ' || $7::text, 'external_lease ' || $8::text,
                     'retry_intervals ' || $9::text, 'retry_on ' || $10::text)
    FROM changed c)
SELECT c.max_readers, c.on_failure, c.runs, c.max_attempts, c.lookahead,
       CASE WHEN c.dead_letters THEN 'on' ELSE 'off' END AS dead_letters, extract(epoch FROM c.external_lease)::float8 AS external_lease_s,
       array_to_string(c.retry_intervals, ',') AS retry_intervals, array_to_string(c.retry_on, ',') AS retry_on,
       pg_notify('lockstep_' || c.queue_id, 'control')::text AS told
FROM changed c;
