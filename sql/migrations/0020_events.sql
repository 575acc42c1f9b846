-- Events: what happens to runs and phases, for consumers of the topic <topic>.events (docs/EVENTS.md). Written to the outbox in the
-- transaction in which it happens and sent by the relay. Only of queues that want it (`queue set --events on`), and of whole runs.
ALTER TABLE lockstep.queue ADD COLUMN events boolean NOT NULL DEFAULT false;
ALTER TABLE lockstep.run ADD COLUMN events boolean NOT NULL DEFAULT false;   -- as its queue when its first message was claimed
ALTER TABLE lockstep.phase ADD COLUMN events boolean NOT NULL DEFAULT false; -- as its run: so that a trigger need not look

-- What an event is about. The record's value is made of it by the relay (event_message): counting tasks is not for whoever opens
-- the next phase. value is filled then, or before what it tells of changes again (event_freeze).
ALTER TABLE lockstep.outbox
    ADD COLUMN event text, -- NULL: not an event
    ADD COLUMN run_no bigint,
    ADD COLUMN phase_id bigint,
    ADD COLUMN task_id bigint,
    ADD COLUMN actor text,
    ADD COLUMN detail text;

DROP FUNCTION IF EXISTS lockstep.gate; -- its parameters have changed; the functions are applied after this

CREATE TABLE lockstep.event_type (
    event text PRIMARY KEY,
    about text NOT NULL CHECK (about IN ('queue', 'run', 'phase', 'task')),
    meaning text NOT NULL
);
INSERT INTO lockstep.event_type (event, about, meaning) VALUES
    ('run_started', 'run', 'its first message was claimed'),
    ('phase_opened', 'phase', 'everything before it is done, its tasks may start'),
    ('phase_done', 'phase', 'an opened phase has no unfinished task; told when the next one opens or the run ends'),
    ('task_failed', 'task', 'finally: no attempt is left'),
    ('task_terminated', 'task', 'it was stopped while it ran, by an operator'),
    ('task_cancelled', 'task', 'it was taken back before it ran, by itself, by an operator'),
    ('run_stopped', 'run', 'its later phases are cancelled: a task failed, or messages are missing'),
    ('run_paused', 'run', 'by an operator or by its policy'),
    ('run_resumed', 'run', 'by an operator'),
    ('run_cancelled', 'run', 'by an operator; it ends when nothing of it runs'),
    ('run_reopened', 'run', 'it had ended and goes on: a retry or a replay'),
    ('tasks_reopened', 'phase', 'finished tasks of it are to be run again'),
    ('run_ended', 'run', 'nothing of it is left to do; its status is final unless it is reopened'),
    ('queue_paused', 'queue', 'by an operator'),
    ('queue_resumed', 'queue', 'by an operator'),
    ('queue_halted', 'queue', 'its topic or its server is not what it was'),
    ('halt_lifted', 'queue', 'by an operator, who has the topic looked at again'),
    ('topic_accepted', 'queue', 'by an operator, who takes the topic as it is'),
    ('server_accepted', 'queue', 'by an operator, who takes the server as it is');

CREATE FUNCTION lockstep.event_logged() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; -- sql/functions
CREATE TRIGGER to_outbox AFTER INSERT ON lockstep.event_log FOR EACH ROW
WHEN (NEW.queue_id IS NOT NULL AND NEW.event <> 'phase_opened') -- phases have the next one, which costs nothing where it is off
EXECUTE FUNCTION lockstep.event_logged();
CREATE FUNCTION lockstep.event_of_phase() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; -- sql/functions
CREATE TRIGGER opened_to_outbox AFTER INSERT ON lockstep.phase FOR EACH ROW
WHEN (NEW.events AND NEW.opened_at IS NOT NULL) EXECUTE FUNCTION lockstep.event_of_phase('phase_opened');
CREATE TRIGGER reopened_to_outbox AFTER UPDATE OF opened_at ON lockstep.phase FOR EACH ROW
WHEN (NEW.events AND OLD.opened_at IS NULL AND NEW.opened_at IS NOT NULL) EXECUTE FUNCTION lockstep.event_of_phase('phase_opened');
CREATE TRIGGER done_to_outbox AFTER UPDATE OF done_at ON lockstep.phase FOR EACH ROW
WHEN (NEW.events AND OLD.done_at IS NULL AND NEW.done_at IS NOT NULL AND NEW.opened_at IS NOT NULL)
EXECUTE FUNCTION lockstep.event_of_phase('phase_done');

CREATE OR REPLACE VIEW lockstep.outbox_record AS
SELECT o.outbox_id, o.queue_id, o.kind, o.relay_seq, o.uid, q.topic || '.' || o.kind AS topic,
       CASE WHEN o.rejected_id IS NULL THEN o.key ELSE m.key END AS key,
       CASE WHEN o.rejected_id IS NULL THEN o.value ELSE m.raw END AS value,
       CASE WHEN o.rejected_id IS NOT NULL THEN m.header_names || ARRAY['lockstep-reason', 'lockstep-detail',
           'lockstep-topic', 'lockstep-partition', 'lockstep-offset', 'lockstep-time', 'lockstep-rejected-id']
           WHEN o.event IS NOT NULL THEN ARRAY['lockstep-event'] ELSE o.header_names END
       || ARRAY['lockstep-queue', 'lockstep-relay-seq', 'lockstep-outbox-id'] AS header_names,
       CASE WHEN o.rejected_id IS NOT NULL THEN m.header_values || ARRAY[convert_to(m.reason, 'UTF8'),
           convert_to(m.detail, 'UTF8'), convert_to(q.topic, 'UTF8'), convert_to(q.partition::text, 'UTF8'),
           convert_to(m.kafka_offset::text, 'UTF8'),
           convert_to(to_char(m.rejected_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'UTF8'),
           convert_to(m.rejected_id::text, 'UTF8')]
           WHEN o.event IS NOT NULL THEN ARRAY[convert_to(o.event, 'UTF8')] ELSE o.header_values END
       || ARRAY[convert_to(q.name, 'UTF8'), convert_to(o.relay_seq::text, 'UTF8'), convert_to(o.uid::text, 'UTF8')] AS header_values
FROM lockstep.outbox o
JOIN lockstep.queue q USING (queue_id)
LEFT JOIN lockstep.rejected_message m USING (rejected_id);

GRANT SELECT ON lockstep.event_type TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
