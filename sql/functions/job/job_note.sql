-- Writes one line of the jobs' log, which the view lockstep.job_log shows. A line that cannot be written becomes a
-- warning: the act that it reports is done nevertheless.
CREATE OR REPLACE FUNCTION lockstep.job_note(
    p_job text, p_event text, p_source text, p_message text, p_run uuid DEFAULT NULL, p_duration interval DEFAULT NULL,
    p_rows bigint DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO lockstep.job_event (job, event, source, message, run_id, duration, rows)
    VALUES (p_job, p_event, p_source, p_message, p_run, p_duration, p_rows);
EXCEPTION
    WHEN OTHERS THEN
        RAISE WARNING 'job %: its log misses a line, %: %', p_job, p_event, SQLERRM;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_note(text, text, text, text, uuid, interval, bigint) FROM PUBLIC;
