-- The words of a schedule's columns, and its kind, of which it has one; guard_message explains why they are no CHECK.
-- The error looks like that of a constraint.
CREATE OR REPLACE FUNCTION lockstep.guard_schedule() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bad text := CASE WHEN num_nonnulls(NEW.rule, NEW.after_job, NEW.rows_rule) <> 1
                          OR num_nulls(NEW.after_job, NEW.after_end) = 1
                         THEN 'kind'
                     WHEN NEW.after_end NOT IN ('success', 'failure', 'always') THEN 'after_end'
                     WHEN NEW.misfire NOT IN ('once', 'all', 'skip') THEN 'misfire' END;
BEGIN
    IF bad IS NOT NULL THEN
        RAISE EXCEPTION 'schedule %: %', NEW.name,
            CASE bad WHEN 'kind' THEN 'it has not exactly one of rule, after_job (with after_end) and rows_rule'
                     ELSE format('%s cannot be %s', bad, to_jsonb(NEW) ->> bad) END
            USING ERRCODE = 'check_violation', SCHEMA = 'lockstep', TABLE = 'schedule',
                  CONSTRAINT = 'schedule_' || bad || '_check';
    END IF;
    RETURN NEW;
END
$$;
