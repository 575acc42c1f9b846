-- A template with the values of a row: a string that is nothing but {column} becomes the column's value, as JSON;
-- {{text}} is the text {text}. At the top of a task a column that is NULL leaves its field out. Nothing is put into the
-- midst of a text, so no value of a row can become a part of a statement.
CREATE OR REPLACE FUNCTION lockstep.enqueue_fill(p_template jsonb, p_row jsonb, p_depth int DEFAULT 0) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    word text;
BEGIN
    CASE pg_catalog.jsonb_typeof(p_template)
        WHEN 'object' THEN
            RETURN COALESCE((SELECT pg_catalog.jsonb_object_agg(f.key, f.value)
                             FROM (SELECT e.key, lockstep.enqueue_fill(e.value, p_row, p_depth + 1) AS value,
                                          e.value AS was
                                   FROM pg_catalog.jsonb_each(p_template) AS e) AS f
                             WHERE p_depth > 0 OR f.value <> 'null' OR f.was = 'null'),
                            '{}');
        WHEN 'array' THEN
            RETURN COALESCE(
                (SELECT pg_catalog.jsonb_agg(lockstep.enqueue_fill(e.value, p_row, p_depth + 1) ORDER BY e.n)
                 FROM pg_catalog.jsonb_array_elements(p_template) WITH ORDINALITY AS e (value, n)), '[]');
        WHEN 'string' THEN
            word := p_template #>> '{}';
            IF word ~ '^\{\{.*\}\}$' THEN
                RETURN pg_catalog.to_jsonb(pg_catalog.substr(word, 2, pg_catalog.length(word) - 2));
            ELSIF word !~ '^\{[^{}]+\}$' THEN
                RETURN p_template;
            END IF;
            word := pg_catalog.btrim(word, '{}');
            IF NOT p_row ? word THEN
                RAISE EXCEPTION 'the template names the column %, which the table does not have', word
                    USING ERRCODE = 'undefined_column',
                          HINT = 'It has ' || (SELECT pg_catalog.string_agg(k, ', ')
                                               FROM pg_catalog.jsonb_object_keys(p_row) AS k)
                                 || '. A text in braces is written {{text}}.';
            END IF;
            RETURN p_row -> word;
        ELSE
            RETURN p_template;
    END CASE;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_fill(jsonb, jsonb, int) FROM PUBLIC;
