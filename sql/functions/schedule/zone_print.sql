-- A fingerprint of the rules of a time zone: of its offsets from UTC on each day of two years from p_since on.
CREATE OR REPLACE FUNCTION lockstep.zone_print(p_zone text, p_since date) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.md5(pg_catalog.string_agg(((d AT TIME ZONE 'UTC' AT TIME ZONE p_zone) - d)::text, ',' ORDER BY d))
    FROM pg_catalog.generate_series(p_since::timestamp, p_since::timestamp + interval '2 years', interval '1 day') AS d
$$;
