-- When a schedule fires, in words; NULL: it is a trigger, or there is none of this number.
CREATE OR REPLACE FUNCTION lockstep.schedule_words(id int) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s record;
BEGIN
    SELECT c.rule, c.rows_rule IS NULL AS is_timed, c.after_end,
           (SELECT j.name FROM lockstep.job j WHERE j.job_id = c.after_job) AS after_name
    INTO s
    FROM lockstep.schedule c WHERE c.schedule_id = schedule_words.id;
    RETURN CASE WHEN s.after_name IS NOT NULL THEN format('after %s (%s)', s.after_name, s.after_end)
                WHEN s.is_timed THEN lockstep.rule_words(s.rule) END;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_words(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.schedule_words(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
