-- Its parameters have changed; the functions are applied after this.
DROP FUNCTION IF EXISTS lockstep.fail(bigint, uuid, boolean, bigint, text, text, text, text, text);

ALTER TABLE lockstep.replay ADD COLUMN epoch int NOT NULL DEFAULT 0; -- of the topic, when it began
UPDATE lockstep.replay y SET epoch = q.epoch FROM lockstep.queue q WHERE q.queue_id = y.queue_id AND y.ended_at IS NULL;
ALTER TABLE lockstep.retention ADD COLUMN epoch int NOT NULL DEFAULT 0; -- of the rejected messages
