-- Opens a phase; the phase before it (p_previous, of this run or of the run before; NULL: none) is done. p_run_no: a
-- run that starts with this phase, else NULL. gate calls this and has the rows of both.
CREATE OR REPLACE FUNCTION lockstep.gate_open(
    p_phase_id bigint, p_previous bigint, p_run_no bigint, p_conditional boolean, p_external boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- The phase before comes first, because both write events.
    UPDATE lockstep.phase SET done_at = pg_catalog.clock_timestamp() WHERE phase_id = p_previous AND done_at IS NULL;
    UPDATE lockstep.phase SET opened_at = pg_catalog.clock_timestamp(), after_runs = false WHERE phase_id = p_phase_id;
    IF p_run_no IS NOT NULL THEN
        UPDATE lockstep.run SET started_at = pg_catalog.clock_timestamp()
        WHERE run_no = p_run_no AND started_at IS NULL;
    END IF;
    IF p_conditional THEN
        PERFORM lockstep.phase_decide(p_phase_id);
    END IF;
    IF p_external THEN
        PERFORM pg_catalog.pg_notify('lockstep_external', (
            SELECT q.name FROM lockstep.phase p JOIN lockstep.queue q USING (queue_id) WHERE p.phase_id = p_phase_id));
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.gate_open(bigint, bigint, bigint, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.gate_open(bigint, bigint, bigint, boolean, boolean) TO lockstep_executor;
