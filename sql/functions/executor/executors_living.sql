-- The numbers of all executors whose work must not be touched: those that live (their liveness lock is held), and those
-- that died but whose task sessions still exist: these sessions are ended first, so that an old attempt does not run
-- while a new one does. An executor that is found dead is marked as ended, once.
CREATE OR REPLACE FUNCTION lockstep.executors_living() RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    living int[];
    dead int[];
BEGIN
    SELECT pg_catalog.array_agg(e.executor_no) FILTER (WHERE e.lives),
           pg_catalog.array_agg(e.executor_no) FILTER (WHERE NOT e.lives)
    INTO living, dead
    FROM (SELECT executor_no, lockstep.executor_lives(executor_no) AS lives FROM lockstep.executor
          WHERE ended_at IS NULL OFFSET 0) AS e;
    living := COALESCE(living, '{}');
    IF dead IS NOT NULL THEN
        WITH gone AS (
            -- Skipped when another observer marks it right now: it writes the same.
            SELECT executor_no
            FROM lockstep.executor WHERE executor_no = ANY (dead) AND ended_at IS NULL FOR UPDATE SKIP LOCKED),
        marked AS (
            UPDATE lockstep.executor e SET ended_at = pg_catalog.clock_timestamp(), ended_why = 'found dead'
            FROM gone WHERE e.executor_no = gone.executor_no RETURNING e.executor_no, e.executor_id)
        INSERT INTO lockstep.event_log (event, executor_no, detail)
        SELECT 'executor_died', executor_no, executor_id::text FROM marked;
        DELETE FROM lockstep.slot_waiter WHERE executor_no = ANY (dead);
    END IF;
    IF EXISTS (SELECT FROM lockstep.executor_session s WHERE s.executor_no <> ALL (living)) THEN
        living := living || lockstep.sessions_left(living);
    END IF;
    RETURN living;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executors_living() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.executors_living() TO lockstep_executor;
