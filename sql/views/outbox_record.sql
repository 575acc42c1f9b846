-- The record that a row of the outbox becomes: topic, key, value, headers. The relay reads this.
CREATE OR REPLACE VIEW lockstep.outbox_record AS
SELECT o.outbox_id, o.queue_id, o.kind, o.relay_seq, o.uid, q.topic || '.' || o.kind AS topic,
       CASE WHEN o.rejected_id IS NULL THEN o.key ELSE m.key END AS key,
       CASE WHEN o.rejected_id IS NULL THEN o.value ELSE m.raw END AS value,
       CASE WHEN o.rejected_id IS NOT NULL THEN m.header_names || ARRAY['lockstep-reason', 'lockstep-detail',
                'lockstep-topic', 'lockstep-partition', 'lockstep-offset', 'lockstep-time', 'lockstep-rejected-id']
            WHEN o.event IS NOT NULL THEN ARRAY['lockstep-event']
            ELSE o.header_names END
       || ARRAY['lockstep-queue', 'lockstep-relay-seq', 'lockstep-outbox-id'] AS header_names,
       CASE WHEN o.rejected_id IS NOT NULL THEN m.header_values || ARRAY[convert_to(m.reason, 'UTF8'),
                convert_to(m.detail, 'UTF8'), convert_to(q.topic, 'UTF8'), convert_to(q.partition::text, 'UTF8'),
                convert_to(m.kafka_offset::text, 'UTF8'),
                convert_to(to_char(m.rejected_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'UTF8'),
                convert_to(m.rejected_id::text, 'UTF8')]
            WHEN o.event IS NOT NULL THEN ARRAY[convert_to(o.event, 'UTF8')]
            ELSE o.header_values END
       || ARRAY[convert_to(q.name, 'UTF8'), convert_to(o.relay_seq::text, 'UTF8'),
                convert_to(o.uid::text, 'UTF8')] AS header_values
FROM lockstep.outbox o JOIN lockstep.queue q USING (queue_id) LEFT JOIN lockstep.rejected_message m USING (rejected_id);
GRANT SELECT ON lockstep.outbox_record TO lockstep_executor, lockstep_operator, lockstep_monitor;
