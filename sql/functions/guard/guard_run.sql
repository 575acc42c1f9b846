-- The words of a run's columns, as guard_queue.
CREATE OR REPLACE FUNCTION lockstep.guard_run() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bad text := CASE WHEN NEW.status NOT IN ('Publishing', 'Running', 'Paused', 'Completed', 'PartiallyCompleted',
                                             'Failed', 'Cancelled')
                         THEN 'status'
                     WHEN NEW.on_failure NOT IN ('stop', 'continue', 'pause') THEN 'on_failure'
                     WHEN NEW.publish_mode NOT IN ('finite', 'stream') THEN 'publish_mode'
                     WHEN NEW.publish_from NOT IN ('file', 'pipe', 'query') THEN 'publish_from'
                     WHEN NEW.publish_format NOT IN ('jsonl', 'csv') THEN 'publish_format' END;
BEGIN
    IF bad IS NOT NULL THEN
        RAISE EXCEPTION 'run %: % cannot be %', NEW.run_id, bad, to_jsonb(NEW) ->> bad
            USING ERRCODE = 'check_violation', SCHEMA = 'lockstep', TABLE = 'run', COLUMN = bad,
                  CONSTRAINT = 'run_' || bad || '_check';
    END IF;
    RETURN NEW;
END
$$;
