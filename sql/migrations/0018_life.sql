-- The life of a task: how often it is tried, when it may start, whether it runs after a failure, whether it ran before.
ALTER TABLE lockstep.queue
    ALTER COLUMN max_attempts DROP NOT NULL, -- NULL: the setting of its executors, else 3
    ALTER COLUMN max_attempts DROP DEFAULT,
    ADD COLUMN default_attempts int CHECK (default_attempts BETWEEN 1 AND 1000), -- that setting, as the executor that began last has it
    -- Which errors of a task are tried again: classes or codes of SQLSTATE, or all; with a minus: not. The longest that fits decides.
    ADD COLUMN retry_on text[] NOT NULL DEFAULT '{all,-0A,-28,-3D,-3F,-42}'
        CHECK (pg_catalog.array_to_string(retry_on, ',', 'NULL') ~ '^-?(all|[0-9A-Z]{5}|[0-9A-Z]{2})(,-?(all|[0-9A-Z]{5}|[0-9A-Z]{2}))*$');

ALTER TABLE lockstep.task
    ADD COLUMN condition text CHECK (condition IN ('always', 'failure')), -- NULL: success
    ADD COLUMN key text,     -- idempotency key
    ADD COLUMN skipped text; -- Cancelled and nothing to be tried again: condition, duplicate
GRANT SELECT (condition, key, skipped) ON lockstep.task TO lockstep_producer, lockstep_operator, lockstep_monitor;
ALTER TABLE lockstep.phase ADD COLUMN conditional boolean NOT NULL DEFAULT false; -- it has tasks with a condition

-- Whose a key is: a task's, also when retention has deleted that. Given on if it ended without being done (sql/functions/key_take.sql).
CREATE TABLE lockstep.idempotency_key (
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    key text NOT NULL,
    task_id bigint NOT NULL,
    run_id uuid NOT NULL,          -- and where its message is: by that a replay finds its own key
    kafka_offset bigint NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (queue_id, key)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON lockstep.idempotency_key TO lockstep_executor;
GRANT SELECT ON lockstep.idempotency_key TO lockstep_operator, lockstep_monitor;

-- What a foreign key to task_type would do, but for the type that almost all have: checked for each row, the claim's insert took
-- twice its time.
CREATE FUNCTION lockstep.guard_type() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM lockstep.task_type y WHERE y.type = NEW.type) THEN
        RAISE EXCEPTION 'there is no task type %', NEW.type
            USING ERRCODE = 'foreign_key_violation', HINT = 'lockstep.task_type lists them.';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard_type BEFORE INSERT OR UPDATE OF type ON lockstep.task FOR EACH ROW
WHEN (NEW.type <> 'sql')
EXECUTE FUNCTION lockstep.guard_type();
ALTER TABLE lockstep.task_attempt ADD FOREIGN KEY (status) REFERENCES lockstep.task_status;

DROP FUNCTION IF EXISTS lockstep.claim, lockstep.gate; -- their parameters have changed; the functions are applied after this
