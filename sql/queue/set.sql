-- queue_set :maybe  changes a queue where a value is given, notifies the executors and writes an event, unless all
-- values are set already; no row: no such queue
-- parameters: name, max_readers, on_failure, runs, max_attempts, lookahead, dead_letters, external_lease,
--          retry_intervals, retry_on
-- columns: max_readers, on_failure, runs, max_attempts, lookahead, dead_letters, external_lease_s, retry_intervals,
--          retry_on, notified
WITH own AS MATERIALIZED ( -- of two at once the second finds what the first has done
    SELECT q.queue_id, q.max_readers, q.on_failure, q.runs, q.max_attempts, q.default_attempts, q.lookahead,
           q.dead_letters, q.external_lease, q.retry_intervals, q.retry_on
    FROM lockstep.queue q WHERE q.name = $1::text FOR NO KEY UPDATE),
wanted AS (
    SELECT o.queue_id, COALESCE($2::int, o.max_readers) AS max_readers, COALESCE($3::text, o.on_failure) AS on_failure,
           COALESCE($4::text, o.runs) AS runs,
           CASE WHEN $5::text = 'default' THEN NULL ELSE COALESCE($5::text::int, o.max_attempts) END AS max_attempts,
           o.default_attempts, COALESCE($6::int, o.lookahead) AS lookahead,
           COALESCE($7::text::boolean, o.dead_letters) AS dead_letters,
           COALESCE($8::text::interval, o.external_lease) AS external_lease,
           COALESCE(string_to_array($9::text, ',')::float8[], o.retry_intervals) AS retry_intervals,
           COALESCE(string_to_array($10::text, ','), o.retry_on) AS retry_on
    FROM own o),
changed AS (
    UPDATE lockstep.queue q
    SET max_readers = w.max_readers, on_failure = w.on_failure, runs = w.runs, max_attempts = w.max_attempts,
        lookahead = w.lookahead, dead_letters = w.dead_letters, external_lease = w.external_lease,
        retry_intervals = w.retry_intervals, retry_on = w.retry_on, updated_at = clock_timestamp()
    FROM wanted w JOIN own o USING (queue_id)
    WHERE q.queue_id = w.queue_id
      AND (w.max_readers, w.on_failure, w.runs, w.max_attempts, w.lookahead, w.dead_letters, w.external_lease,
           w.retry_intervals, w.retry_on)
          IS DISTINCT FROM (o.max_readers, o.on_failure, o.runs, o.max_attempts, o.lookahead, o.dead_letters,
                            o.external_lease, o.retry_intervals, o.retry_on)
    RETURNING q.queue_id),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_changed', c.queue_id,
           concat_ws(', ', 'max_readers ' || $2::int, 'on_failure ' || $3::text, 'runs ' || $4::text,
                     'max_attempts ' || $5::text, 'lookahead ' || $6::int, 'dead_letters ' || $7::text,
                     'external_lease ' || $8::text, 'retry_intervals ' || $9::text, 'retry_on ' || $10::text)
    FROM changed c)
SELECT w.max_readers, w.on_failure, w.runs, COALESCE(w.max_attempts, w.default_attempts, 3) AS max_attempts,
       w.lookahead, CASE WHEN w.dead_letters THEN 'on' ELSE 'off' END AS dead_letters,
       extract(epoch FROM w.external_lease)::float8 AS external_lease_s,
       array_to_string(w.retry_intervals, ',') AS retry_intervals, array_to_string(w.retry_on, ',') AS retry_on,
       CASE WHEN c.queue_id IS NOT NULL THEN pg_notify('lockstep_' || c.queue_id, 'control')::text END AS notified
FROM wanted w LEFT JOIN changed c USING (queue_id);
