-- The day from which a calendar rule counts days, weeks or months, where the rule does not give one and it matters;
-- NULL: otherwise.
CREATE OR REPLACE FUNCTION lockstep.rule_anchor(p_written jsonb, p_rule lockstep.rule) RETURNS date
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE WHEN p_written ->> 'kind' = 'calendar' AND p_rule.factor > 1
                     AND lockstep.calendar_date(p_written, 'active_start_date') IS NULL
                    THEN p_rule.start_date END;
END
$$;
