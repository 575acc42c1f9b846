-- A text with each ${word} replaced by the value of that word; two dollar signs before a brace stand for one. A word
-- without a value is empty.
CREATE OR REPLACE FUNCTION lockstep.job_text(p_field text, p_text text, p_words jsonb) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    made text := '';
    rest text := p_text;
    word text;
    at int;
BEGIN
    LOOP
        at := pg_catalog.strpos(rest, '${');
        EXIT WHEN at = 0;
        IF at > 1 AND pg_catalog.substr(rest, at - 1, 1) = '$' THEN
            made := made || pg_catalog.left(rest, at - 2) || '${';
            rest := pg_catalog.substr(rest, at + 2);
            CONTINUE;
        END IF;
        word := pg_catalog.substring(pg_catalog.substr(rest, at), '^\$\{([A-Za-z_][A-Za-z0-9_]*)\}');
        IF word IS NULL OR NOT p_words ? word THEN
            PERFORM lockstep.job_refuse(
                p_field, pg_catalog.format('"%s" is no placeholder', pg_catalog.left(pg_catalog.substr(rest, at), 40)),
                'write one of ' || (SELECT pg_catalog.string_agg('${' || k || '}', ', ' ORDER BY k)
                                    FROM pg_catalog.jsonb_object_keys(p_words) AS k)
                || '; $' || '${ is the text ${');
        END IF;
        made := made || pg_catalog.left(rest, at - 1) || COALESCE(p_words ->> word, '');
        rest := pg_catalog.substr(rest, at + pg_catalog.length(word) + 3);
    END LOOP;
    RETURN made || rest;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_text(text, text, jsonb) FROM PUBLIC;
