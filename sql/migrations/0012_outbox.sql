-- A rejected message keeps its headers, too. Header n has the n-th name and the n-th value; a name may come twice, a value may
-- be NULL. raw NULL is a record without a value (a tombstone), key NULL one without a key.
DROP FUNCTION IF EXISTS lockstep.claim; -- its parameters have changed; the functions are applied after this
ALTER TABLE lockstep.rejected_message
    ADD COLUMN header_names text[],
    ADD COLUMN header_values bytea[],
    ADD COLUMN dead_lettered_at timestamptz, -- when its record was known to be on the dead-letter topic
    ADD COLUMN redrive_run uuid,             -- the run that publishes it again; noted before anything is sent
    ADD COLUMN redriven_at timestamptz,      -- when that run was known to be on the topic; NULL: not known yet
    ADD COLUMN redriven_by text;
CREATE INDEX rejected_redrive ON lockstep.rejected_message (redrive_run) WHERE redrive_run IS NOT NULL;

ALTER TABLE lockstep.queue ADD COLUMN dead_letters boolean NOT NULL DEFAULT true; -- false: the rows are enough

-- What is to be published about what was committed: written in the transaction it tells of, and published by a relay (relay/)
-- after that is durable. kind names the topic: <the queue's topic>.<kind>. A row is either whole in itself, or says what it is
-- about (rejected_id), so that nothing large is kept twice. It is deleted when its record is known to be on the topic.
CREATE TABLE lockstep.outbox (
    outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind ~ '^[a-z]+$'),
    rejected_id bigint REFERENCES lockstep.rejected_message ON DELETE CASCADE,
    key bytea,
    value bytea,
    header_names text[],
    header_values bytea[],
    uid uuid NOT NULL DEFAULT gen_random_uuid(), -- its name in the record: ids are issued again after a restore, this is not
    relay_seq bigint,                            -- the relay's number: dense per queue and kind; NULL: not yet in its hands
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (queue_id, kind, relay_seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX outbox_new ON lockstep.outbox (queue_id, kind, outbox_id) WHERE relay_seq IS NULL;

-- How far a relay is with a topic. Written by the relay alone; its row lock is held for one statement.
CREATE TABLE lockstep.relay (
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    kind text NOT NULL,
    last_seq bigint NOT NULL DEFAULT 0,    -- the newest number given
    sent_seq bigint NOT NULL DEFAULT 0,    -- up to here the records are known to be on the topic
    next_offset bigint NOT NULL DEFAULT 0, -- and nothing of ours is behind this offset but what the relay does not know yet
    trouble text,                          -- why rows wait, in a sentence
    trouble_since timestamptz,
    PRIMARY KEY (queue_id, kind)
) WITH (fillfactor = 50);

-- What the record of a row is: topic, key, value, headers.
CREATE VIEW lockstep.outbox_record AS
SELECT o.outbox_id, o.queue_id, o.kind, o.relay_seq, o.uid, q.topic || '.' || o.kind AS topic,
       CASE WHEN o.rejected_id IS NULL THEN o.key ELSE m.key END AS key,
       CASE WHEN o.rejected_id IS NULL THEN o.value ELSE m.raw END AS value,
       CASE WHEN o.rejected_id IS NULL THEN o.header_names ELSE m.header_names || ARRAY['lockstep-reason', 'lockstep-detail',
           'lockstep-topic', 'lockstep-partition', 'lockstep-offset', 'lockstep-time', 'lockstep-rejected-id'] END
       || ARRAY['lockstep-queue', 'lockstep-relay-seq', 'lockstep-outbox-id'] AS header_names,
       CASE WHEN o.rejected_id IS NULL THEN o.header_values ELSE m.header_values || ARRAY[convert_to(m.reason, 'UTF8'),
           convert_to(m.detail, 'UTF8'), convert_to(q.topic, 'UTF8'), convert_to(q.partition::text, 'UTF8'),
           convert_to(m.kafka_offset::text, 'UTF8'),
           convert_to(to_char(m.rejected_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'UTF8'),
           convert_to(m.rejected_id::text, 'UTF8')] END
       || ARRAY[convert_to(q.name, 'UTF8'), convert_to(o.relay_seq::text, 'UTF8'), convert_to(o.uid::text, 'UTF8')] AS header_values
FROM lockstep.outbox o
JOIN lockstep.queue q USING (queue_id)
LEFT JOIN lockstep.rejected_message m USING (rejected_id);

-- Every rejected message becomes a dead letter, whoever writes the row.
CREATE FUNCTION lockstep.rejected_to_outbox() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO lockstep.outbox (queue_id, kind, rejected_id)
    SELECT n.queue_id, 'rejected', n.rejected_id
    FROM new_rows n JOIN lockstep.queue q ON q.queue_id = n.queue_id
    WHERE q.dead_letters ORDER BY n.rejected_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER to_outbox AFTER INSERT ON lockstep.rejected_message REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION lockstep.rejected_to_outbox();

CREATE OR REPLACE VIEW lockstep.rejected AS
SELECT q.name AS queue, m.kafka_offset AS "offset", m.reason, m.detail, m.raw, m.rejected_at, m.rejected_id, r.run_id, m.seq,
       m.key, m.header_names, m.header_values, m.dead_lettered_at, m.redrive_run, m.redriven_at, m.redriven_by
FROM lockstep.rejected_message m
JOIN lockstep.queue q USING (queue_id)
LEFT JOIN lockstep.run r USING (run_no);

ALTER TABLE lockstep.executor_session DROP CONSTRAINT executor_session_kind_check;
ALTER TABLE lockstep.executor_session ADD CONSTRAINT executor_session_kind_check
    CHECK (kind IN ('control', 'liveness', 'gate', 'reader', 'relay'));

GRANT SELECT, INSERT, UPDATE, DELETE ON lockstep.outbox, lockstep.relay TO lockstep_executor;
GRANT SELECT ON lockstep.outbox_record TO lockstep_executor;
GRANT SELECT ON lockstep.outbox, lockstep.relay, lockstep.outbox_record TO lockstep_operator, lockstep_monitor;
-- Who redrives publishes.
GRANT SELECT, UPDATE (redrive_run, redriven_at, redriven_by) ON lockstep.rejected_message TO lockstep_producer;
