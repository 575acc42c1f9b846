-- Writes the outcome of a time, or of a run by hand (p_schedule_id NULL), that a person asked for and that has no run.
-- It replaces an earlier decision about the time, unless that has fired; the log keeps it.
CREATE OR REPLACE FUNCTION lockstep.job_unfired(
    p_job_id int, p_schedule_id int, p_at timestamptz, p_outcome text, p_source text, p_reason text, p_by text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lockstep.job_occurrence o
    WHERE o.schedule_id = p_schedule_id AND o.scheduled_for = p_at AND o.outcome <> 'fired';
    INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, reason, dispatcher)
    VALUES (p_job_id, p_schedule_id, p_at, p_outcome, p_source, p_reason, p_by)
    ON CONFLICT (schedule_id, scheduled_for) DO NOTHING; -- it has fired
    PERFORM lockstep.job_note((SELECT j.name FROM lockstep.job j WHERE j.job_id = p_job_id), p_outcome, p_source,
                              p_reason);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_unfired(int, int, timestamptz, text, text, text, text) FROM PUBLIC;
