-- The answer to one line of `schedule next --file`: {"next": [...]}, or {"error": a word, "message": ..., "hint": ...}. The line is a rule, with
-- after (now, if it is not given) and n (p_n). counted_from: the day from which a calendar rule counts that does not give one.
CREATE OR REPLACE FUNCTION lockstep.schedule_answer(p_line text, p_n int) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    MOST CONSTANT int := 100000;
    asked jsonb;
    times int := p_n;
    word text;
    why text;
    advice text;
BEGIN
    asked := p_line::jsonb;
    IF asked ? 'n' THEN
        IF asked ->> 'n' !~ '^[0-9]{1,6}$' OR (asked ->> 'n')::int NOT BETWEEN 1 AND MOST THEN
            PERFORM lockstep.rule_refuse('value', pg_catalog.format('n: %s is not in the range', pg_catalog.left(asked ->> 'n', 64)), pg_catalog.format('write 1 to %s', MOST));
        END IF;
        times := (asked ->> 'n')::int;
    END IF;
    RETURN pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('counted_from', lockstep.rule_anchor(asked, lockstep.rule_of(asked)), 'next', COALESCE((
        SELECT pg_catalog.jsonb_agg(pg_catalog.to_char(f AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') ORDER BY f)
        FROM lockstep.forecast(asked, COALESCE(lockstep.rule_instant(asked, 'after'), pg_catalog.now()), times) AS f), '[]')));
EXCEPTION
    WHEN invalid_parameter_value THEN
        GET STACKED DIAGNOSTICS word = PG_EXCEPTION_DETAIL, why = MESSAGE_TEXT, advice = PG_EXCEPTION_HINT;
        RETURN pg_catalog.jsonb_build_object('error', word, 'message', why, 'hint', advice);
    WHEN datetime_field_overflow OR interval_field_overflow OR numeric_value_out_of_range THEN
        RETURN pg_catalog.jsonb_build_object('error', 'value', 'message', SQLERRM, 'hint', 'write times between 1970 and 9999');
    WHEN invalid_text_representation OR untranslatable_character THEN
        RETURN pg_catalog.jsonb_build_object('error', 'json', 'message', 'the line is not JSON', 'hint', 'write one rule a line: {"kind": "cron", "expr": "0 6 * * *", "zone": "UTC"}');
END
$$;
