-- When a schedule fires, in words; NULL: there is none of this number.
CREATE OR REPLACE FUNCTION lockstep.schedule_words(id int) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN s.after_job IS NOT NULL THEN format(
                    'after %s (%s)', (SELECT j.name FROM lockstep.job j WHERE j.job_id = s.after_job), s.after_end)
                WHEN (s.rows_rule).relation IS NULL THEN lockstep.rule_words(s.rule)
                ELSE (SELECT format(
                          'when %s, in %s',
                          concat_ws(', or ', r.threshold || CASE r.threshold WHEN 1 THEN ' row waits'
                                                                 ELSE ' rows wait' END,
                                    'the oldest has waited for ' || lockstep.rule_length_words(
                                        extract(epoch FROM LEAST(r.idle, r.max_wait))::bigint),
                                    'the newest has waited for ' || lockstep.rule_length_words(
                                        extract(epoch FROM r.debounce)::bigint)),
                          r.relation)
                      FROM (SELECT (s.rows_rule).*) r) END
    FROM lockstep.schedule s WHERE s.schedule_id = schedule_words.id
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_words(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.schedule_words(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
