-- An event of the log that consumers are to receive goes to the outbox, too, in the same transaction. A role that may
-- write the log need not be able to write the outbox. No SET search_path: docs/explanation/decisions.md.
CREATE OR REPLACE FUNCTION lockstep.event_logged() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF (CASE WHEN NEW.run_no IS NULL
                 THEN (SELECT q.events FROM lockstep.queue q WHERE q.queue_id OPERATOR(pg_catalog.=) NEW.queue_id)
             ELSE (SELECT r.events FROM lockstep.run r WHERE r.run_no OPERATOR(pg_catalog.=) NEW.run_no) END) THEN
        INSERT INTO lockstep.outbox (queue_id, kind, event, run_no, phase_id, task_id, actor, detail, created_at, job)
        SELECT NEW.queue_id, 'events', NEW.event, NEW.run_no, NEW.phase_id, NEW.task_id, NEW.actor, NEW.detail, NEW.at,
               NEW.job
        FROM lockstep.event_type t
        WHERE t.event OPERATOR(pg_catalog.=) NEW.event;
        IF FOUND THEN
            PERFORM pg_catalog.pg_notify(pg_catalog.concat('lockstep_', NEW.queue_id), 'relay');
        END IF;
    END IF;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.event_logged() FROM PUBLIC;
