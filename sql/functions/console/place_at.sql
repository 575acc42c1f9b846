-- The time of a place in a list; NULL, where the list begins: infinity.
CREATE OR REPLACE FUNCTION lockstep.place_at(place text) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN place_at.place IS NULL THEN timestamptz 'infinity'
                ELSE timestamptz '1970-01-01 00:00:00+00' + pg_catalog.split_part(place_at.place, '_', 1)::bigint
                    * interval '1 microsecond' END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.place_at(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.place_at(text) TO lockstep_operator, lockstep_monitor;
