-- A segment continues phase p_phase_id, the last phase of its run: is this phase open, do its tasks stay parked, and
-- has the caller acquired S? claim calls this before its first write. p_looks: some of the tasks may run. p_held_back:
-- an operator has paused the run. p_shares: the caller needs S of the phase and does not have it.
--
-- verdict   NULL; busy: another session has a row of the phase or its locks, come again
CREATE OR REPLACE FUNCTION lockstep.claim_continued(
    p_run_no bigint, p_phase_id bigint, p_looks boolean, p_parked boolean, p_held_back boolean, p_shares boolean,
    OUT verdict text, OUT is_open boolean, OUT parked boolean, OUT took_shared boolean)
LANGUAGE plpgsql AS $$
BEGIN
    took_shared := false;
    IF p_looks THEN
        is_open := lockstep.claim_look(p_run_no, p_phase_id);
    ELSE -- cancelled tasks: retention may have begun to delete the run since it was read
        PERFORM FROM lockstep.run r WHERE r.run_no = p_run_no AND NOT r.swept FOR NO KEY UPDATE SKIP LOCKED;
        is_open := CASE WHEN FOUND THEN false END;
    END IF;
    parked := p_parked AND (p_held_back OR NOT is_open); -- under its policy what is open continues
    IF is_open IS NULL THEN
        verdict := 'busy';
    ELSIF p_shares AND NOT parked THEN
        took_shared := lockstep.lock_shared_xact(p_phase_id);
        verdict := CASE WHEN NOT took_shared THEN 'busy' END;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.claim_continued(bigint, bigint, boolean, boolean, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.claim_continued(bigint, bigint, boolean, boolean, boolean, boolean)
    TO lockstep_executor;
