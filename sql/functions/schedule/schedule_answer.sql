-- The answer to one line of `schedule next --file`: {"next": [...]}, or {"error": a word, "message": ..., "hint": ...}.
-- The line is a rule, with after (now, if it is not given) and n (p_n). counted_from: the day from which a calendar
-- rule counts that does not give one.
CREATE OR REPLACE FUNCTION lockstep.schedule_answer(p_line text, p_n int) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked jsonb;
    times int := p_n;
    word text;
    why text;
    advice text;
BEGIN
    asked := p_line::jsonb;
    IF asked ? 'n' THEN
        IF asked ->> 'n' !~ '^[0-9]{1,6}$' THEN
            PERFORM lockstep.rule_refuse('value', format('n: %s is not in the range', left(asked ->> 'n', 64)),
                                         'write 1 to 100000');
        END IF;
        times := (asked ->> 'n')::int;
    END IF;
    RETURN jsonb_strip_nulls(
        jsonb_build_object('counted_from', lockstep.rule_anchor(asked, lockstep.rule_of(asked)), 'next', COALESCE((
            SELECT jsonb_agg(to_char(f AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') ORDER BY f)
            FROM lockstep.forecast(asked, NULL, times) AS f), '[]')));
EXCEPTION
    WHEN invalid_parameter_value THEN
        GET STACKED DIAGNOSTICS word = PG_EXCEPTION_DETAIL, why = MESSAGE_TEXT, advice = PG_EXCEPTION_HINT;
        RETURN jsonb_build_object('error', word, 'message', why, 'hint', advice);
    WHEN datetime_field_overflow OR interval_field_overflow OR numeric_value_out_of_range THEN
        RETURN jsonb_build_object('error', 'value', 'message', SQLERRM, 'hint', 'write times between 1970 and 9999');
    WHEN invalid_text_representation OR untranslatable_character THEN
        RETURN jsonb_build_object(
            'error', 'json', 'message', 'the line is not JSON',
            'hint', 'write one rule a line: {"kind": "cron", "expr": "0 6 * * *", "zone": "UTC"}');
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_answer(text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.schedule_answer(text, int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
