-- Deletes a batch of what is not kept of jobs: lines of the log that are older than 30 days, and times that were decided more than 90 days ago. Returns how many rows.
CREATE OR REPLACE FUNCTION lockstep.job_sweep() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    ROWS CONSTANT int := 1000;
    lines bigint;
    times bigint;
BEGIN
    DELETE FROM lockstep.job_event e WHERE e.job_event_id = ANY (ARRAY(
        SELECT b.job_event_id FROM lockstep.job_event b WHERE b.at < now() - interval '30 days' ORDER BY b.at LIMIT ROWS));
    GET DIAGNOSTICS lines = ROW_COUNT;
    DELETE FROM lockstep.job_occurrence o WHERE o.occurrence_id = ANY (ARRAY(
        SELECT b.occurrence_id FROM lockstep.job_occurrence b WHERE b.decided_at < now() - interval '90 days' ORDER BY b.decided_at LIMIT ROWS));
    GET DIAGNOSTICS times = ROW_COUNT;
    RETURN lines + times;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_sweep() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_sweep() TO lockstep_executor;
