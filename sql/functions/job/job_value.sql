-- A JSON value with the words of its texts replaced. p_typed: a text that is nothing but one ${word} becomes that
-- word's value as it is, a number or NULL, too.
CREATE OR REPLACE FUNCTION lockstep.job_value(p_field text, p_value jsonb, p_words jsonb, p_typed boolean) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
    word text;
BEGIN
    CASE pg_catalog.jsonb_typeof(p_value)
        WHEN 'object' THEN
            RETURN COALESCE((SELECT pg_catalog.jsonb_object_agg(
                                        e.key, lockstep.job_value(p_field || '.' || e.key, e.value, p_words, p_typed))
                             FROM pg_catalog.jsonb_each(p_value) AS e),
                            '{}');
        WHEN 'array' THEN
            RETURN COALESCE((SELECT pg_catalog.jsonb_agg(lockstep.job_value(pg_catalog.format('%s[%s]', p_field, e.n),
                                                                            e.value, p_words, p_typed) ORDER BY e.n)
                             FROM pg_catalog.jsonb_array_elements(p_value) WITH ORDINALITY AS e (value, n)),
                            '[]');
        WHEN 'string' THEN
            word := pg_catalog.substring(p_value #>> '{}', '^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$');
            RETURN CASE WHEN p_typed AND p_words ? word THEN p_words -> word
                        ELSE pg_catalog.to_jsonb(lockstep.job_text(p_field, p_value #>> '{}', p_words)) END;
        ELSE
            RETURN p_value;
    END CASE;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_value(text, jsonb, jsonb, boolean) FROM PUBLIC;
