-- Takes IX of a phase without waiting: for who has just given its S back, and may have been the last. Refused also while somebody
-- waits for IX: then that one opens the next phase. What was taken of a refused one goes with the transaction.
CREATE OR REPLACE FUNCTION lockstep.lock_intent_try(phase_id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    class CONSTANT int := lockstep.lock_class('phase');
    b CONSTANT int := lockstep.phase_key(phase_id, 1);
BEGIN
    IF NOT pg_catalog.pg_try_advisory_xact_lock(class, lockstep.phase_key(phase_id, 0)) OR NOT pg_catalog.pg_try_advisory_xact_lock_shared(class, b) THEN
        RETURN false;
    END IF;
    PERFORM pg_catalog.pg_advisory_lock_shared(class, b);
    RETURN true;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_intent_try(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_intent_try(bigint) TO lockstep_executor;
