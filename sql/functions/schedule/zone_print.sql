-- A fingerprint of the rules of a time zone: of its offsets from UTC on each day of two years from p_since on, and of
-- the seconds at which its clock changes.
CREATE OR REPLACE FUNCTION lockstep.zone_print(p_zone text, p_since date) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.md5(pg_catalog.string_agg(
        pg_catalog.concat_ws('@', EXTRACT(epoch FROM o.shift)::int,
                             CASE WHEN o.shift <> o.before
                                      THEN EXTRACT(epoch FROM lockstep.zone_change(
                                          p_zone, o.at - interval '24 hours', o.at))::bigint END),
        ',' ORDER BY o.at))
    FROM (SELECT d.day AT TIME ZONE 'UTC' AS at, s.shift, pg_catalog.lag(s.shift) OVER (ORDER BY d.day) AS before
          FROM pg_catalog.generate_series(p_since::timestamp, p_since::timestamp + interval '2 years', interval '1 day')
              AS d (day)
          CROSS JOIN LATERAL (SELECT (d.day AT TIME ZONE 'UTC' AT TIME ZONE p_zone) - d.day AS shift) s) o
$$;
