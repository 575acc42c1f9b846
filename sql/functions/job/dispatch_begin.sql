-- The session that has just acquired the lock of dispatch begins: the tokens of the dispatcher before it become void,
-- and their SQL is asked for again. A row that another session is changing at this moment is left to that change. The
-- session is new, so it has the current time zones of the server.
CREATE OR REPLACE FUNCTION lockstep.dispatch_begin() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
    DELETE FROM lockstep.job_ask a
    WHERE a.token IN (SELECT b.token FROM lockstep.job_ask b WHERE b.schedule_id IS NOT NULL FOR UPDATE SKIP LOCKED);
    UPDATE lockstep.job_ask a SET token = gen_random_uuid(), wake_at = now()
    WHERE a.token IN (SELECT b.token FROM lockstep.job_ask b WHERE b.wake_at IS NOT NULL FOR UPDATE SKIP LOCKED);
    UPDATE lockstep.schedule s SET asked_until = NULL
    WHERE s.schedule_id IN (SELECT b.schedule_id
                            FROM lockstep.schedule b WHERE b.asked_until IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED);
    SELECT lockstep.dispatch_zones();
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_begin() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_begin() TO lockstep_executor;
