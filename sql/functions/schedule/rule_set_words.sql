-- A set in words, stretches as ranges: 1-5, 9. p_names: of the values from p_low on; NULL: numbers. The result is NULL
-- where the set is NULL or empty. It is PL/pgSQL, as is all that puts a rule into words: a function in SQL plans the
-- functions in SQL that it calls at each call.
CREATE OR REPLACE FUNCTION lockstep.rule_set_words(p_set bigint, p_low int, p_names text[] DEFAULT NULL) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    first int := p_low + lockstep.rule_lowest(p_set >> p_low); -- of a stretch
    last int;
    first_word text;
    last_word text;
    words text;
BEGIN
    WHILE first IS NOT NULL LOOP
        last := first + lockstep.rule_lowest(~(p_set >> first)) - 1;
        first_word := COALESCE(p_names[first - p_low + 1], first::text);
        last_word := COALESCE(p_names[last - p_low + 1], last::text);
        words := pg_catalog.concat_ws(', ', words, CASE last - first WHEN 0 THEN first_word
                                                                     WHEN 1 THEN first_word || ', ' || last_word
                                                                     ELSE first_word || '-' || last_word END);
        first := last + 1 + lockstep.rule_lowest(p_set >> (last + 1));
    END LOOP;
    RETURN words;
END
$$;
