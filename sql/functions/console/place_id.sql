-- The number of the row of a place in a list; NULL, where the list begins: above all.
CREATE OR REPLACE FUNCTION lockstep.place_id(place text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN place_id.place IS NULL THEN 9223372036854775807
                ELSE pg_catalog.split_part(place_id.place, '_', 2)::bigint END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.place_id(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.place_id(text) TO lockstep_operator, lockstep_monitor;
