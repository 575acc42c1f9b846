-- Reading a topic again from an earlier offset (queue resume --accept-topic --from-offset N) begins a new epoch: what is rejected then
-- has rows of its own beside those of the first reading, and implicit runs have other ids (sql/functions/implicit_run_id.sql).
ALTER TABLE lockstep.queue
    ADD COLUMN epoch int NOT NULL DEFAULT 0, -- how often the cursor was set back
    ADD COLUMN unknown_at bigint;            -- the record for which the queue was halted as unknown_run: once accepted, it does not halt it again
ALTER TABLE lockstep.run ADD COLUMN epoch int NOT NULL DEFAULT 0; -- in which its first message was claimed
ALTER TABLE lockstep.rejected_message ADD COLUMN epoch int NOT NULL DEFAULT 0;
ALTER TABLE lockstep.rejected_message DROP CONSTRAINT rejected_message_queue_id_kafka_offset_key;
ALTER TABLE lockstep.rejected_message ADD UNIQUE (queue_id, epoch, kafka_offset);

UPDATE lockstep.halt_reason
SET remedy = 'Have its producer count seq from 0 and publish that run again. To record the run as failed and go on with what is behind it: '
             'lockstep queue resume QUEUE --accept-topic'
WHERE reason = 'unknown_run';
INSERT INTO lockstep.halt_reason (reason, meaning, remedy) VALUES
    ('rejection_refused', 'the database refuses to keep a record that is no message, even without its bytes',
     'Look for a constraint or trigger on lockstep.rejected_message that is not Lockstep''s, and drop it. Then: lockstep queue resume QUEUE');
