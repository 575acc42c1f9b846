-- A duration as the API has it: seconds, to the microsecond.
CREATE OR REPLACE FUNCTION lockstep.seconds(duration interval) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.round(pg_catalog.date_part('epoch', seconds.duration)::numeric, 6)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.seconds(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.seconds(interval) TO lockstep_operator, lockstep_monitor;
