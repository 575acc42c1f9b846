-- Refuses a text that is not the name of a time zone of this server, letter by letter: AT TIME ZONE takes abbreviations
-- and POSIX strings, too. A text without a digit is no POSIX string, and setting it as the zone shows its spelling, in
-- a thousandth of the time that pg_timezone_names takes; the setting ends with the function.
CREATE OR REPLACE FUNCTION lockstep.rule_zone(p_zone text) RETURNS void
LANGUAGE plpgsql STABLE SET timezone = 'UTC' AS $$
DECLARE
    near text;
BEGIN
    IF p_zone = 'UTC' THEN
        RETURN;
    ELSIF p_zone ~ '^[A-Z][A-Za-z_/-]*$' AND p_zone !~ '^[A-Z]{2,5}$' THEN
        BEGIN
            IF pg_catalog.set_config('timezone', p_zone, true) = p_zone THEN
                RETURN;
            END IF;
        EXCEPTION WHEN invalid_parameter_value THEN
            NULL;
        END;
    ELSIF p_zone ~ '^Etc/' AND EXISTS (SELECT FROM pg_catalog.pg_timezone_names z WHERE z.name = p_zone) THEN
        RETURN;
    END IF;
    SELECT z.name INTO near
    FROM pg_catalog.pg_timezone_names z
    WHERE (pg_catalog.lower(z.name) = pg_catalog.lower(p_zone)
           OR pg_catalog.right(z.name, pg_catalog.length(p_zone) + 1) = '/' || pg_catalog.replace(
                                                                            pg_catalog.initcap(p_zone), ' ', '_'))
      AND z.name ~ '^[A-Z].*/'
    ORDER BY 1 LIMIT 1;
    PERFORM lockstep.rule_refuse(
        'zone', pg_catalog.format('zone: "%s" is not the name of a time zone', pg_catalog.left(p_zone, 64)),
        COALESCE('write ' || near,
                 'write a name of pg_timezone_names, such as Europe/Warsaw; abbreviations and offsets name no zone'));
END
$$;
