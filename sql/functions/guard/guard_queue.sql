-- The bounds of a queue's columns; guard_message explains why they are no CHECK. The error looks like that of the
-- constraint that it replaces.
CREATE OR REPLACE FUNCTION lockstep.guard_queue() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bad text := CASE
        WHEN NEW.name !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' THEN 'name'
        WHEN NEW.partition < 0 THEN 'partition'
        WHEN NEW.next_offset < 0 THEN 'next_offset'
        WHEN NEW.max_readers NOT BETWEEN 0 AND 1000 THEN 'max_readers'
        WHEN NEW.lookahead NOT BETWEEN 1 AND 1000 THEN 'lookahead'
        WHEN NEW.on_failure NOT IN ('stop', 'continue', 'pause') THEN 'on_failure'
        WHEN NEW.runs NOT IN ('serial', 'concurrent') THEN 'runs'
        WHEN NEW.max_attempts NOT BETWEEN 1 AND 1000 THEN 'max_attempts'
        WHEN NEW.default_attempts NOT BETWEEN 1 AND 1000 THEN 'default_attempts'
        WHEN NEW.max_lost NOT BETWEEN 1 AND 1000 THEN 'max_lost'
        WHEN NEW.external_lease NOT BETWEEN '1 second' AND '1000 hours' THEN 'external_lease'
        WHEN array_to_string(NEW.retry_on, ',', 'NULL')
             !~ '^-?(all|[0-9A-Z]{5}|[0-9A-Z]{2})(,-?(all|[0-9A-Z]{5}|[0-9A-Z]{2}))*$' THEN 'retry_on'
        WHEN NEW.keep_runs NOT BETWEEN 1 AND 1000000 THEN 'keep_runs'
        WHEN NEW.keep_days NOT BETWEEN 1 AND 36500 THEN 'keep_days'
        WHEN NEW.keep_failed_days NOT BETWEEN 1 AND 36500 THEN 'keep_failed_days' END;
BEGIN
    IF bad IS NOT NULL THEN
        RAISE EXCEPTION 'queue %: % cannot be %', NEW.name, bad, to_jsonb(NEW) ->> bad
            USING ERRCODE = 'check_violation', SCHEMA = 'lockstep', TABLE = 'queue', COLUMN = bad,
                  CONSTRAINT = 'queue_' || bad || '_check';
    END IF;
    RETURN NEW;
END
$$;
