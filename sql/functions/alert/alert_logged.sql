-- An alert that is opened, acknowledged or closed is in the log of events. The alert of an absent monitor belongs to no
-- job.
CREATE OR REPLACE FUNCTION lockstep.alert_logged() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    was_open CONSTANT boolean := TG_OP = 'UPDATE' AND OLD.opened_at IS NOT NULL;
    event CONSTANT text := CASE WHEN NEW.closed_at IS NOT NULL THEN 'alert_closed'
                                WHEN was_open THEN 'alert_acknowledged' ELSE 'alert_opened' END;
    own CONSTANT text := NULLIF(NEW.job, '');
BEGIN
    INSERT INTO lockstep.event_log (event, queue_id, job, detail)
    VALUES (event, (SELECT j.queue_id FROM lockstep.job j WHERE j.name = own), own,
            concat_ws(': ', 'job ' || own, format('alert %s', NEW.alert_id),
                      CASE event WHEN 'alert_opened' THEN concat_ws(': ', NEW.kind, NEW.text)
                           WHEN 'alert_acknowledged' THEN NEW.note
                           ELSE format('%s is over: %s', NEW.kind, NEW.ended) END));
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.alert_logged() FROM PUBLIC;
