-- The transitions of lockstep.status_transition and no other, for each role. Not called on the hot path (Pending,
-- Processing, Error -> Completed).
CREATE OR REPLACE FUNCTION lockstep.guard_transition() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.status IS DISTINCT FROM NEW.status AND NOT EXISTS (
        SELECT FROM lockstep.status_transition s WHERE s.from_status = OLD.status AND s.to_status = NEW.status) THEN
        RAISE EXCEPTION 'task %: a task that is % cannot become %', OLD.task_id, OLD.status, NEW.status
            USING ERRCODE = 'check_violation', HINT = 'SELECT * FROM lockstep.status_transition';
    END IF;
    RETURN NEW;
END
$$;
