-- A place in a list that is ordered by time: microseconds since 1970, and the number of the row.
CREATE OR REPLACE FUNCTION lockstep.place(at timestamptz, id bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.round(pg_catalog.date_part('epoch', place.at) * 1000000)::bigint || '_' || place.id
$$;
REVOKE EXECUTE ON FUNCTION lockstep.place(timestamptz, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.place(timestamptz, bigint) TO lockstep_operator, lockstep_monitor;
