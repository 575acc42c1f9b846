-- The cause for which the phase that a gate waits for is unfinished, as the verdict of gate: orphans, due in wait_ms,
-- external, wait.
CREATE OR REPLACE FUNCTION lockstep.gate_waits(p_phase_id bigint, OUT verdict text, OUT wait_ms int)
LANGUAGE plpgsql AS $$
DECLARE
    living CONSTANT int[] := lockstep.executors_living();
    due timestamptz;
    external boolean;
BEGIN
    SELECT pg_catalog.min(COALESCE(t.scheduled_for, '-infinity')) INTO due
    FROM lockstep.task t
    WHERE t.phase_id = p_phase_id AND lockstep.is_ownable(t.status) AND t.type <> 'external'
      AND (t.executor_no IS NULL OR t.executor_no <> ALL (living));
    wait_ms := CASE WHEN due > pg_catalog.clock_timestamp()
                    THEN LEAST(EXTRACT(epoch FROM due - pg_catalog.clock_timestamp()) * 1000 + 1, 3600000) ELSE 0 END;
    -- No executor holds S for a worker, so IX was granted: to wait for it once more would not wait at all.
    external := due IS NULL AND (SELECT p.external FROM lockstep.phase p WHERE p.phase_id = p_phase_id) AND EXISTS (
        SELECT FROM lockstep.task t
        WHERE t.phase_id = p_phase_id AND t.type = 'external' AND NOT lockstep.is_finished(t.status));
    verdict := CASE WHEN external THEN 'external'
                    WHEN due IS NULL THEN 'wait'
                    WHEN wait_ms = 0 THEN 'orphans' ELSE 'due' END;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.gate_waits(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.gate_waits(bigint) TO lockstep_executor;
