-- A request ends without a run: its time, or the run by hand, has this outcome.
CREATE OR REPLACE FUNCTION lockstep.job_request_end(
    p_request lockstep.job_ask, p_outcome text, p_reason text, p_by text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lockstep.job_ask a WHERE a.token = p_request.token;
    PERFORM lockstep.job_unfired(p_request.job_id, p_request.fills, p_request.scheduled_for, p_outcome,
                                 p_request.source, p_reason, p_by);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_request_end(lockstep.job_ask, text, text, text) FROM PUBLIC;
