-- The values of a whole field: items with commas between them.
CREATE OR REPLACE FUNCTION lockstep.cron_field(
    p_field text, p_text text, p_low int, p_high int, p_names text[] DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    item text;
    made bigint := 0;
BEGIN
    IF p_text = '?' THEN
        PERFORM lockstep.rule_refuse('syntax', pg_catalog.format('%s: ? is for the days only', p_field), 'write *');
    END IF;
    FOREACH item IN ARRAY pg_catalog.string_to_array(p_text, ',') LOOP
        made := made | lockstep.cron_item(p_field, item, p_low, p_high, p_names);
    END LOOP;
    RETURN made;
END
$$;
