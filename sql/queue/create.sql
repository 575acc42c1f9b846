-- queue_create :maybe  makes a queue over a partition of a topic, because of reason; no row: the name is taken
-- parameters: name, topic, partition, from_offset, cluster_id, max_readers, on_failure, runs, max_attempts, lookahead,
--          dead_letters, partitions, external_lease, retry_intervals, retry_on, reason
-- columns: queue_id
WITH made AS (
    INSERT INTO lockstep.queue (name, topic, partition, next_offset, cluster_id, max_readers, on_failure, runs,
                                max_attempts, lookahead, dead_letters, partitions, external_lease, retry_intervals,
                                retry_on)
    VALUES ($1::text, $2::text, $3::int, $4::bigint, $5::text, $6::int, $7::text, $8::text, $9::int, $10::int,
            $11::text::boolean, $12::int, $13::text::interval,
            string_to_array($14::text, ',')::float8[], string_to_array($15::text, ','))
    ON CONFLICT (name) DO NOTHING
    RETURNING queue_id, topic, partition, next_offset),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_created', m.queue_id,
           concat_ws(': ', format('topic %s, partition %s, from offset %s', m.topic, m.partition, m.next_offset),
                     $16::text)
    FROM made m)
SELECT m.queue_id FROM made m;
