-- A cancelled run continues: its messages that are still on the topic are claimed as tasks again. The caller has the
-- locks of the queue's row and of the run's row.
CREATE OR REPLACE FUNCTION lockstep.run_uncancel(p_run_no bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.run
    SET stop_after = stop_kept, stop_kept = NULL, cancelled_by = NULL, cancelled_at = NULL, error = NULL
    WHERE run_no = p_run_no AND cancelled_at IS NOT NULL
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_uncancel(bigint) FROM PUBLIC;
