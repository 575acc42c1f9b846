-- How far away a time is, for people: the two largest units of it, 3 h 12 min.
CREATE OR REPLACE FUNCTION lockstep.job_away(p_length interval) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    s CONSTANT bigint := pg_catalog.trunc(pg_catalog.date_part('epoch', p_length));
BEGIN
    RETURN CASE WHEN s >= 86400 THEN pg_catalog.concat_ws(' ', s / 86400 || ' d', NULLIF(s / 3600 % 24, 0) || ' h')
                WHEN s >= 3600 THEN pg_catalog.concat_ws(' ', s / 3600 || ' h', NULLIF(s / 60 % 60, 0) || ' min')
                WHEN s >= 60 THEN pg_catalog.concat_ws(' ', s / 60 || ' min', NULLIF(s % 60, 0) || ' s')
                WHEN s >= 1 THEN s || ' s' ELSE 'less than 1 s' END;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_away(interval) FROM PUBLIC;
