-- An open Kafka transaction holds back a queue's topic from an offset on; since when, if that is known: see explain.
CREATE OR REPLACE FUNCTION lockstep.explain_transaction(p_queue_id int, p_offset bigint, p_since timestamptz)
RETURNS lockstep.explanation LANGUAGE sql STABLE AS $$
    SELECT lockstep.explain_row(
               'blocked_by_transaction',
               pg_catalog.format('an open Kafka transaction holds back what lies on topic %s from offset %s on%s',
                                 q.topic, p_offset,
                                 ', for ' || lockstep.explain_words(pg_catalog.clock_timestamp() - p_since)),
               'queue ' || q.name, p_since, ARRAY['QUEUE', q.name, 'TOPIC', q.topic, 'PARTITION', q.partition::text])
    FROM lockstep.queue q WHERE q.queue_id = p_queue_id
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_transaction(int, bigint, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_transaction(int, bigint, timestamptz)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
