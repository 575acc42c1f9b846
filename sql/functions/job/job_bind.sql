-- A statement of a user, without a semicolon at its end, with each ${word} as an expression over its parameter $1, the
-- words: so a value is bound, and never a part of the text. The types of the words in the statement: the run is a uuid,
-- times are timestamptz, rows is a bigint, a number numeric, true and false boolean, all others text.
CREATE OR REPLACE FUNCTION lockstep.job_bind(p_field text, p_text text, p_words jsonb) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    TYPES CONSTANT jsonb := '{"run": "uuid", "scheduled_at": "timestamptz", "fired_at": "timestamptz", '
                            '"previous_scheduled_at": "timestamptz", "last_success_at": "timestamptz", '
                            '"rows": "int8"}';
    OF_JSON CONSTANT jsonb := '{"number": "numeric", "boolean": "bool"}';
    bound CONSTANT jsonb := (
        SELECT pg_catalog.jsonb_object_agg(
                   w.key, pg_catalog.format('($1 OPERATOR(pg_catalog.->>) %L)::pg_catalog.%s', w.key,
                       COALESCE(TYPES ->> w.key, OF_JSON ->> pg_catalog.jsonb_typeof(w.value), 'text')))
        FROM pg_catalog.jsonb_each(p_words) AS w);
BEGIN
    RETURN CASE WHEN p_text IS NOT NULL
                    THEN lockstep.job_text(p_field, pg_catalog.rtrim(p_text, E'; \t\r\n'), bound) END;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_bind(text, text, jsonb) FROM PUBLIC;
