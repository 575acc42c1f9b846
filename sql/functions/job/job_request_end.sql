-- A request ends without a run: its time, or the run by hand, has this outcome. An earlier decision about the time is
-- replaced, as by lockstep.job_backfill_fire; the log keeps it.
CREATE OR REPLACE FUNCTION lockstep.job_request_end(
    p_request lockstep.job_ask, p_outcome text, p_reason text, p_by text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lockstep.job_ask a WHERE a.token = p_request.token;
    DELETE FROM lockstep.job_occurrence o
    WHERE o.schedule_id = p_request.fills AND o.scheduled_for = p_request.scheduled_for AND o.outcome <> 'fired';
    INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, reason, dispatcher)
    VALUES (p_request.job_id, p_request.fills, p_request.scheduled_for, p_outcome, p_request.source, p_reason, p_by)
    ON CONFLICT (schedule_id, scheduled_for) DO NOTHING; -- it has fired
    PERFORM lockstep.job_note((SELECT j.name FROM lockstep.job j WHERE j.job_id = p_request.job_id), p_outcome,
                              p_request.source, p_reason);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_request_end(lockstep.job_ask, text, text, text) FROM PUBLIC;
