-- How many times of a rule are asked for.
CREATE OR REPLACE FUNCTION lockstep.rule_count(p_n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    MOST CONSTANT int := 100000;
BEGIN
    IF p_n IS NULL OR p_n NOT BETWEEN 1 AND MOST THEN
        PERFORM lockstep.rule_refuse('value',
                                     pg_catalog.format('n: %s is not in the range', COALESCE(p_n::text, 'NULL')),
                                     pg_catalog.format('write 1 to %s', MOST));
    END IF;
    RETURN p_n;
END
$$;
