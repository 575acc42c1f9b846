-- Whether the topic is still the one that the queue was made on, beyond the fingerprint of the last claimed record.
ALTER TABLE lockstep.queue
    ADD COLUMN partitions int,        -- how many the topic has; NULL: not looked at yet
    ADD COLUMN mark uuid,             -- its birthmark: metadata of the Kafka group lockstep.<queue>.mark, which goes with the topic
    ADD COLUMN marked_at timestamptz, -- the mark was seen there; NULL: not yet committed
    ADD COLUMN halt_no int NOT NULL DEFAULT 0, -- rises when a halt is lifted: a verdict on the topic that is older halts nothing
    ADD COLUMN blocked_offset bigint, -- an open transaction holds back what lies there and behind it
    ADD COLUMN blocked_at timestamptz;

-- Why a queue may be halted, and what a person does about it. QUEUE stands for the queue's name.
CREATE TABLE lockstep.halt_reason (
    reason text PRIMARY KEY,
    meaning text NOT NULL,
    remedy text NOT NULL
);
INSERT INTO lockstep.halt_reason (reason, meaning, remedy) VALUES
    ('topic_deleted', 'the topic is gone',
     'Make the topic again with one partition, then: lockstep queue resume QUEUE --accept-topic --from-offset 0'),
    ('topic_replaced', 'the topic''s birthmark is gone: it was deleted and made anew',
     'To read the new topic from its beginning: lockstep queue resume QUEUE --accept-topic --from-offset 0'),
    ('fingerprint', 'another record stands where the last claimed one was: the topic was made anew or replaced',
     'To read the topic as it is now from its beginning: lockstep queue resume QUEUE --accept-topic --from-offset 0'),
    ('retention', 'messages were deleted before they were claimed',
     'Publish the lost runs again. To go on with what is left: lockstep queue resume QUEUE --accept-topic --from-offset N, N being the log''s beginning'),
    ('truncated', 'the log ends before the cursor: it lost its tail',
     'Look for runs that were claimed in part. To go on from the log''s end: lockstep queue resume QUEUE --accept-topic --from-offset N, N being the log''s end'),
    ('partitions', 'the topic has another number of partitions',
     'Order holds within one partition. If all producers of this queue still write to its partition: lockstep queue resume QUEUE --accept-topic'),
    ('other_cluster', 'this is another Kafka cluster',
     'If the brokers were named wrongly, name the right ones, then: lockstep queue resume QUEUE. If the topic moved: lockstep queue resume QUEUE --accept-topic --from-offset N'),
    ('corrupt', 'a record batch is damaged on the broker',
     'Restore it from a replica, then: lockstep queue resume QUEUE. To skip it: lockstep queue resume QUEUE --accept-topic --from-offset N'),
    ('unknown_run', 'a run whose first messages were never seen',
     'Publish that run again. To go on behind it: lockstep queue resume QUEUE --accept-topic --from-offset N'),
    ('other_server', 'this is another PostgreSQL server, or a copy of the database',
     'If the connection leads to the wrong server, mend it. If this one is meant: lockstep queue resume QUEUE --accept-server'),
    ('kafka', 'Kafka refuses to be read',
     'Mend what the detail says, then: lockstep queue resume QUEUE');

GRANT SELECT ON lockstep.halt_reason TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
