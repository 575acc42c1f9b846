-- A time in the form that events have: RFC 3339, UTC, microseconds.
CREATE OR REPLACE FUNCTION lockstep.event_time(p_at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.event_time(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.event_time(timestamptz) TO lockstep_executor;
