-- Refuses a job that would run after itself, by whichever way.
CREATE OR REPLACE FUNCTION lockstep.job_circle(p_job_id int, p_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM lockstep.schedule s WHERE s.job_id = p_job_id AND s.after_job IS NOT NULL) AND EXISTS (
        WITH RECURSIVE before AS (
            SELECT s.after_job FROM lockstep.schedule s WHERE s.job_id = p_job_id AND s.after_job IS NOT NULL
            UNION
            SELECT s.after_job FROM before b JOIN lockstep.schedule s ON s.job_id = b.after_job WHERE s.after_job IS NOT NULL)
        SELECT FROM before b WHERE b.after_job = p_job_id) THEN
        PERFORM lockstep.job_refuse('schedules', pg_catalog.format('job %s would run after itself', p_name), 'break the circle: a schedule of the kind "after" names a job that does not wait for this one');
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_circle(int, text) FROM PUBLIC;
