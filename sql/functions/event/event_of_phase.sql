-- A phase was opened, or is done, and its run wants events: one row for the relay. Without NOTIFY, because this is a
-- barrier: the executor whose gate has opened a phase wakes its relay itself, and the end of a run is notified anyway.
-- No SET search_path: docs/explanation/decisions.md.
CREATE OR REPLACE FUNCTION lockstep.event_of_phase() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO lockstep.outbox (queue_id, kind, event, run_no, phase_id, created_at)
    VALUES (NEW.queue_id, 'events', TG_ARGV[0], NEW.run_no, NEW.phase_id,
            CASE WHEN TG_ARGV[0] OPERATOR(pg_catalog.=) 'phase_done' THEN NEW.done_at ELSE NEW.opened_at END);
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.event_of_phase() FROM PUBLIC;
