-- Whoever has just taken the lock of dispatch begins: what the one before has asked for is worth nothing any more, and is asked for anew.
CREATE OR REPLACE FUNCTION lockstep.dispatch_begin() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
    DELETE FROM lockstep.job_ask a WHERE a.schedule_id IS NOT NULL OR a.asked_at < clock_timestamp() - interval '1 hour';
    UPDATE lockstep.schedule s SET asked_until = NULL WHERE s.asked_until IS NOT NULL;
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_begin() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_begin() TO lockstep_executor;
