-- When a schedule fires, in words; NULL: it is a trigger, or there is none of this number.
CREATE OR REPLACE FUNCTION lockstep.schedule_words(id int) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN s.after_job IS NOT NULL THEN format(
                    'after %s (%s)', (SELECT j.name FROM lockstep.job j WHERE j.job_id = s.after_job), s.after_end)
                WHEN s.rows_rule IS NULL THEN lockstep.rule_words(s.rule) END
    FROM lockstep.schedule s WHERE s.schedule_id = schedule_words.id
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_words(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.schedule_words(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
