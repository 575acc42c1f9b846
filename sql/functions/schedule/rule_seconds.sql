-- The seconds of a length of time as it is written in rules: 90s, 5m, 1h30m, 2d.
CREATE OR REPLACE FUNCTION lockstep.rule_seconds(p_field text, p_text text, p_low bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    MOST CONSTANT bigint := 366 * 86400;
    made numeric := 0;
    part text[];
BEGIN
    IF p_text IS NULL OR p_text !~ '^([0-9]{1,9}[smhd])+$' OR pg_catalog.length(p_text) > 64 THEN
        PERFORM lockstep.rule_refuse(
            'value', pg_catalog.format('%s: "%s" is not a length of time', p_field, pg_catalog.left(p_text, 64)),
            'write it as 90s, 5m, 1h30m or 2d');
    END IF;
    FOR part IN SELECT m FROM pg_catalog.regexp_matches(p_text, '([0-9]+)([smhd])', 'g') AS m LOOP
        made := made
                + part[1]::numeric * CASE part[2] WHEN 's' THEN 1 WHEN 'm' THEN 60 WHEN 'h' THEN 3600 ELSE 86400 END;
    END LOOP;
    IF made NOT BETWEEN p_low AND MOST THEN
        PERFORM lockstep.rule_refuse('value', pg_catalog.format('%s: %s is not in the range', p_field, p_text),
                                     pg_catalog.format('write %ss to 366d', p_low));
    END IF;
    RETURN made::bigint;
END
$$;
