-- When a schedule fires, in words; NULL: there is none of this number.
CREATE OR REPLACE FUNCTION lockstep.schedule_words(id int) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s record;
BEGIN
    SELECT c.rule, c.rows_rule AS waits, (c.rows_rule).relation IS NULL AS is_timed, c.after_end,
           (SELECT j.name FROM lockstep.job j WHERE j.job_id = c.after_job) AS after_name
    INTO s
    FROM lockstep.schedule c WHERE c.schedule_id = schedule_words.id;
    RETURN CASE WHEN s.after_name IS NOT NULL THEN format('after %s (%s)', s.after_name, s.after_end)
                WHEN s.is_timed THEN lockstep.rule_words(s.rule)
                ELSE (SELECT format(
                          'when %s, in %s',
                          concat_ws(', or ', r.threshold || CASE r.threshold WHEN 1 THEN ' row waits'
                                                                 ELSE ' rows wait' END,
                                    'the oldest has waited for ' || lockstep.rule_length_words(
                                        extract(epoch FROM LEAST(r.idle, r.max_wait))::bigint),
                                    'the newest has waited for ' || lockstep.rule_length_words(
                                        extract(epoch FROM r.debounce)::bigint)),
                          r.relation)
                      FROM (SELECT (s.waits).*) r) END;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_words(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.schedule_words(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
