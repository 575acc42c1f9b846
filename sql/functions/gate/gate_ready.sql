-- Is the work that a phase waits for finished (free)? gate calls this when it holds the rows of the phase and of the
-- phase before. Each statement here takes its own snapshot, so it sees the changes that were committed while gate
-- waited for these rows. p_within: another phase of the same run comes before this one. p_behind_runs: the phase waits
-- for the end of earlier runs, too.
-- verdict: NULL; run: an earlier run has not ended; paused: an operator or the policy of the run holds it.
-- definitions: how often tasks have changed the definitions of the database.
CREATE OR REPLACE FUNCTION lockstep.gate_ready(
    p_run_no bigint, p_order bigint, p_within boolean, p_behind_runs boolean,
    OUT free boolean, OUT verdict text, OUT definitions bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    held boolean;
BEGIN
    SELECT q.paused OR r.status = 'Paused',
           NOT p_within
           OR (SELECT b.phase_id
               FROM lockstep.phase b
               WHERE b.run_no + 0 = p_run_no AND b."order" + 0 < p_order AND b.done_at IS NULL
                 AND (b.opened_at IS NULL
                      OR (SELECT t.task_id
                          FROM lockstep.task t
                          WHERE t.phase_id = b.phase_id AND NOT lockstep.is_finished(t.status) LIMIT 1) IS NOT NULL)
               -- not EXISTS, which may be answered by reading the whole table into a hash
               ORDER BY b."order" + 0 LIMIT 1) IS NULL,
           (SELECT d.changes FROM lockstep.definitions d)
    INTO held, free, definitions
    FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE r.run_no = p_run_no;
    IF free AND p_behind_runs THEN
        -- Not only the run right before it: cancelled, that may have ended before one that it waited for.
        SELECT NOT EXISTS (SELECT FROM lockstep.run b
                           WHERE b.queue_id = r.queue_id AND b.ended_at IS NULL AND b.first_offset < r.first_offset)
        INTO free FROM lockstep.run r WHERE r.run_no = p_run_no;
        verdict := CASE WHEN NOT free THEN 'run' END;
    END IF;
    IF free AND held THEN
        free := false;
        verdict := 'paused';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.gate_ready(bigint, bigint, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.gate_ready(bigint, bigint, boolean, boolean) TO lockstep_executor;
