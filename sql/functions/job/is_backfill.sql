-- Has a backfill fired this (job_backfill_act makes the source)? The moment of such a firing says nothing of lateness.
CREATE OR REPLACE FUNCTION lockstep.is_backfill(source text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT source LIKE 'backfill by %'
$$;
REVOKE EXECUTE ON FUNCTION lockstep.is_backfill(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.is_backfill(text)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
