DROP FUNCTION IF EXISTS lockstep.gate, lockstep.release; -- their parameters have changed; the functions are applied after this

-- Each claim writes its queue's row and its run's. The text of a CHECK is parsed again in every statement that writes the table, also in
-- one that leaves its column alone, and fifteen of them took longer than the rest of the cursor's move. So they are guards: triggers of
-- columns that are not written are passed over. What they refuse looks like the constraint that they were.
ALTER TABLE lockstep.queue
    DROP CONSTRAINT queue_name_check, DROP CONSTRAINT queue_partition_check, DROP CONSTRAINT queue_max_readers_check,
    DROP CONSTRAINT queue_lookahead_check, DROP CONSTRAINT queue_on_failure_check, DROP CONSTRAINT queue_runs_check,
    DROP CONSTRAINT queue_max_attempts_check, DROP CONSTRAINT queue_max_lost_check, DROP CONSTRAINT queue_external_lease_check,
    DROP CONSTRAINT queue_default_attempts_check, DROP CONSTRAINT queue_retry_on_check, DROP CONSTRAINT queue_keep_runs_check,
    DROP CONSTRAINT queue_keep_days_check, DROP CONSTRAINT queue_keep_failed_days_check, DROP CONSTRAINT queue_next_offset_check;
CREATE FUNCTION lockstep.guard_queue() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
            USING ERRCODE = 'check_violation', SCHEMA = 'lockstep', TABLE = 'queue', COLUMN = bad, CONSTRAINT = 'queue_' || bad || '_check';
    END IF;
    RETURN NEW;
END
$$;
-- Not of next_offset: it is what each claim writes.
CREATE TRIGGER guard_queue BEFORE INSERT OR UPDATE OF name, partition, max_readers, lookahead, on_failure, runs, max_attempts, default_attempts,
    max_lost, external_lease, retry_on, keep_runs, keep_days, keep_failed_days ON lockstep.queue
FOR EACH ROW EXECUTE FUNCTION lockstep.guard_queue();

ALTER TABLE lockstep.run
    DROP CONSTRAINT run_on_failure_check, DROP CONSTRAINT run_status_check, DROP CONSTRAINT run_publish_mode_check,
    DROP CONSTRAINT run_publish_from_check, DROP CONSTRAINT run_publish_format_check;
CREATE FUNCTION lockstep.guard_run() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bad text := CASE
        WHEN NEW.status NOT IN ('Publishing', 'Running', 'Paused', 'Completed', 'PartiallyCompleted', 'Failed', 'Cancelled') THEN 'status'
        WHEN NEW.on_failure NOT IN ('stop', 'continue', 'pause') THEN 'on_failure'
        WHEN NEW.publish_mode NOT IN ('finite', 'stream') THEN 'publish_mode'
        WHEN NEW.publish_from NOT IN ('file', 'pipe', 'query') THEN 'publish_from'
        WHEN NEW.publish_format NOT IN ('jsonl', 'csv') THEN 'publish_format' END;
BEGIN
    IF bad IS NOT NULL THEN
        RAISE EXCEPTION 'run %: % cannot be %', NEW.run_id, bad, to_jsonb(NEW) ->> bad
            USING ERRCODE = 'check_violation', SCHEMA = 'lockstep', TABLE = 'run', COLUMN = bad, CONSTRAINT = 'run_' || bad || '_check';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard_run BEFORE INSERT OR UPDATE OF status, on_failure, publish_mode, publish_from, publish_format ON lockstep.run
FOR EACH ROW EXECUTE FUNCTION lockstep.guard_run();
