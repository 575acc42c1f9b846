-- Is this phase of a run open? NULL: another session has one of their rows, call again. The run is locked before its
-- phase, as by a gate that opens the first phase of a run: the claim writes the run at its end, and by then has the
-- phase. See claim.
CREATE OR REPLACE FUNCTION lockstep.claim_look(p_run_no bigint, p_phase_id bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    is_open boolean;
BEGIN
    -- The run cannot have changed since it was read: a change needs the queue's row.
    PERFORM FROM lockstep.run r WHERE r.run_no = p_run_no FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        -- Under FOR SHARE: a retry that closes the phase again is wholly before or wholly after this look. Skipped, not
        -- waited for: a gate may be holding the row.
        SELECT p.opened_at IS NOT NULL INTO is_open
        FROM lockstep.phase p WHERE p.phase_id = p_phase_id FOR SHARE SKIP LOCKED;
    END IF;
    RETURN is_open;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.claim_look(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.claim_look(bigint, bigint) TO lockstep_executor;
