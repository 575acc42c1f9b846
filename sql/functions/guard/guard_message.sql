-- The rules for the columns that a message fills in a task: the type exists, and the condition does. A CHECK would be
-- parsed again in every statement that writes the table; triggers of columns that are not written are skipped.
CREATE OR REPLACE FUNCTION lockstep.guard_message() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM lockstep.task_type y WHERE y.type = NEW.type) THEN
        RAISE EXCEPTION 'there is no task type %', NEW.type
            USING ERRCODE = 'foreign_key_violation', HINT = 'SELECT * FROM lockstep.task_type';
    END IF;
    IF NEW.condition NOT IN ('always', 'failure') THEN
        RAISE EXCEPTION 'there is no condition %', NEW.condition
            USING ERRCODE = 'check_violation', HINT = 'Give always, failure, or NULL for success.';
    END IF;
    RETURN NEW;
END
$$;
