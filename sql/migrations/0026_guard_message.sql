-- A CHECK constraint's text is parsed again in every statement that writes the table, also in one that leaves its column alone: that
-- of condition took a sixth of the server's time for a short task. So it is part of the guard of what a message says, which an
-- attempt's statements never come to: triggers of columns that are not written are passed over before their WHEN is read.
DROP TRIGGER guard_type ON lockstep.task;
DROP FUNCTION lockstep.guard_type();
ALTER TABLE lockstep.task DROP CONSTRAINT task_condition_check;
CREATE FUNCTION lockstep.guard_message() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM lockstep.task_type y WHERE y.type = NEW.type) THEN
        RAISE EXCEPTION 'there is no task type %', NEW.type
            USING ERRCODE = 'foreign_key_violation', HINT = 'lockstep.task_type lists them.';
    END IF;
    IF NEW.condition NOT IN ('always', 'failure') THEN
        RAISE EXCEPTION 'there is no condition %', NEW.condition
            USING ERRCODE = 'check_violation', HINT = 'always, failure, or NULL for success.';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard_message BEFORE INSERT OR UPDATE OF type, condition ON lockstep.task FOR EACH ROW
WHEN (NEW.type <> 'sql' OR NEW.condition IS NOT NULL)
EXECUTE FUNCTION lockstep.guard_message();
