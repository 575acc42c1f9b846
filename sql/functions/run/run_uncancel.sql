-- A cancelled run is taken up again: what is still on the topic is not cancelled any more when it is claimed. Called
-- under the locks of its queue's row and its own.
CREATE OR REPLACE FUNCTION lockstep.run_uncancel(p_run_no bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.run
    SET stop_after = stop_kept, stop_kept = NULL, cancelled_by = NULL, cancelled_at = NULL, error = NULL
    WHERE run_no = p_run_no AND cancelled_at IS NOT NULL
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_uncancel(bigint) FROM PUBLIC;
