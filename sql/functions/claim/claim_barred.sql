-- Raises the error of a claim that cannot acquire S of a phase which its own transaction has made: a session that is no
-- executor holds the locks of that phase. See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_barred(p_phase_id bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    takers CONSTANT text := COALESCE(lockstep.lock_takers(
                                         'phase', lockstep.phase_key(p_phase_id, 0), lockstep.phase_key(p_phase_id, 1)),
                                     'a session that has released them');
BEGIN
    RAISE EXCEPTION 'the locks of phase %, which is new, are held by %', p_phase_id, takers
        USING ERRCODE = 'lock_not_available',
              HINT = pg_catalog.format(
                  '%sWhat keeps others from these locks: lockstep migrate roles --show-sql --advisory',
                  'End that session: SELECT pg_terminate_backend(' || "substring"(takers, 'pid (\d+)') || '). ');
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.claim_barred TO lockstep_executor;
