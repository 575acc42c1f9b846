-- Notifications as external tasks: tables of a type of one's own, and the rows that its workers read. Run by a member
-- of lockstep_owner that may create a schema here: a foreign key to the task is for trusted roles
-- (docs/how-to/external-workers.md). The workers get rights on it.
CREATE SCHEMA notification;

-- Exclusive: a task is of one type, and this table has only tasks of this one. The row goes with its task when
-- retention deletes that. NOT VALID: for every row that comes, but not for those that a restored dump brings before the
-- tasks are there.
CREATE TABLE notification.notification (
    task_id bigint PRIMARY KEY REFERENCES lockstep.task ON DELETE CASCADE,
    template text NOT NULL,
    rendered text,
    confirmed_at timestamptz
);
ALTER TABLE notification.notification
    ADD CONSTRAINT is_notification CHECK (lockstep.task_is_type(task_id, 'notification')) NOT VALID;

-- Inclusive: a notification may be an email, an SMS, or both.
CREATE TABLE notification.email (
    task_id bigint PRIMARY KEY REFERENCES notification.notification ON DELETE CASCADE,
    address text NOT NULL,
    sent_at timestamptz
);
CREATE TABLE notification.sms (
    task_id bigint PRIMARY KEY REFERENCES notification.notification ON DELETE CASCADE,
    number text NOT NULL,
    sent_at timestamptz
);

-- Another type, to show that the two cannot be mixed up. Invoices are kept when their task is deleted: no foreign key.
CREATE TABLE notification.invoice (
    task_id bigint PRIMARY KEY,
    amount numeric NOT NULL,
    printed_at timestamptz
);
ALTER TABLE notification.invoice ADD CONSTRAINT is_invoice CHECK (lockstep.task_is_type(task_id, 'invoice')) NOT VALID;

-- A worker view a type: one row has all that its worker needs.
CREATE VIEW notification.notification_worker AS
SELECT n.task_id, n.template, n.rendered, n.confirmed_at, e.address, e.sent_at AS email_sent_at, s.number,
       s.sent_at AS sms_sent_at
FROM notification.notification n
LEFT JOIN notification.email e USING (task_id)
LEFT JOIN notification.sms s USING (task_id);
CREATE VIEW notification.invoice_worker AS SELECT task_id, amount, printed_at FROM notification.invoice;

-- The first attempt at a notification brings its rows in from the message; later ones find them.
CREATE FUNCTION notification.enter(task_id bigint, input jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO notification.notification VALUES (enter.task_id, input ->> 'template') ON CONFLICT DO NOTHING;
    INSERT INTO notification.email SELECT enter.task_id, input ->> 'email' WHERE input ? 'email' ON CONFLICT DO NOTHING;
    INSERT INTO notification.sms SELECT enter.task_id, input ->> 'sms' WHERE input ? 'sms' ON CONFLICT DO NOTHING;
END
$$;

GRANT USAGE ON SCHEMA notification TO lockstep_worker;
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA notification TO lockstep_worker;
