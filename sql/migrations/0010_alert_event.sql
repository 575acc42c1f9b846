-- Alerts in the log of events, where whoever follows it sees them, and on the topics of events.
ALTER TABLE lockstep.event_log ADD COLUMN job text;
ALTER TABLE lockstep.outbox ADD COLUMN job text;
ALTER TABLE lockstep.event_type DROP CONSTRAINT event_type_about_check;
ALTER TABLE lockstep.event_type ADD CONSTRAINT event_type_about_check CHECK (about IN ('queue', 'run', 'phase', 'task', 'job'));
INSERT INTO lockstep.event_type (event, about, meaning) VALUES
    ('alert_opened', 'job', 'the monitor has found a problem of it in two looks in a row'),
    ('alert_closed', 'job', 'the problem is over, or another one, or the job is disabled, silenced or deleted'),
    ('alert_acknowledged', 'job', 'by an operator, who knows of it');
CREATE FUNCTION lockstep.alert_logged() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER alert_new AFTER INSERT ON lockstep.job_alert FOR EACH ROW WHEN (NEW.opened_at IS NOT NULL) EXECUTE FUNCTION lockstep.alert_logged();
CREATE TRIGGER alert_turned AFTER UPDATE ON lockstep.job_alert FOR EACH ROW
WHEN ((OLD.opened_at IS NULL, OLD.closed_at IS NULL, OLD.acknowledged_at) IS DISTINCT FROM (NEW.opened_at IS NULL, NEW.closed_at IS NULL, NEW.acknowledged_at))
EXECUTE FUNCTION lockstep.alert_logged();
