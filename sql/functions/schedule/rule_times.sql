-- The times of a rule's days, in seconds after midnight, ascending; each is written HH:mm or HH:mm:ss.
CREATE OR REPLACE FUNCTION lockstep.rule_times(p_times jsonb) RETURNS int[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    MOST CONSTANT int := 1440;
    one text;
    made int[] := '{}';
BEGIN
    IF pg_catalog.jsonb_typeof(p_times) IS DISTINCT FROM 'array'
       OR pg_catalog.jsonb_array_length(p_times) NOT BETWEEN 1 AND MOST THEN
        PERFORM lockstep.rule_refuse('value', 'times: not a list of times',
                                     pg_catalog.format('write 1 to %s of them: ["06:00", "18:30"]', MOST));
    END IF;
    FOR one IN SELECT t FROM pg_catalog.jsonb_array_elements_text(p_times) AS t LOOP
        IF one IS NULL OR one !~ '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$' THEN
            PERFORM lockstep.rule_refuse('value',
                                         pg_catalog.format('times: "%s" is not a time', pg_catalog.left(one, 64)),
                                         'write it as 06:00 or 06:00:30, 00:00 to 23:59:59');
        END IF;
        made := made || (pg_catalog.date_part('epoch', one::time))::int;
    END LOOP;
    RETURN ARRAY(SELECT DISTINCT t FROM pg_catalog.unnest(made) AS t ORDER BY t);
END
$$;
