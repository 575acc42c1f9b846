-- The lowest value of a set that is not empty.
CREATE OR REPLACE FUNCTION lockstep.rule_lowest(p_set bigint) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    FOR n IN 0..62 LOOP
        IF p_set & (1::bigint << n) <> 0 THEN
            RETURN n;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
