-- Refuses a job that would run after itself, directly or through other jobs, or after a watch, which has no runs; and a
-- watch that other jobs follow.
CREATE OR REPLACE FUNCTION lockstep.job_circle(p_job_id int, p_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one record;
BEGIN
    IF NOT EXISTS (SELECT FROM lockstep.schedule s WHERE s.job_id = p_job_id AND s.after_job IS NOT NULL)
       AND NOT EXISTS (SELECT FROM lockstep.job j WHERE j.job_id = p_job_id AND j.is_watch) THEN
        RETURN;
    END IF;
    -- Of two changes that each make one half of a circle the second waits here, and then sees the first.
    PERFORM pg_catalog.pg_advisory_xact_lock(lockstep.lock_class('dispatch'), 1);
    SELECT w.name, s.name AS schedule INTO one
    FROM lockstep.schedule s JOIN lockstep.job w ON w.job_id = s.after_job
    WHERE s.job_id = p_job_id AND w.is_watch ORDER BY s.schedule_id LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse(pg_catalog.format('job %s, schedule %s', p_name, one.schedule),
                                    pg_catalog.format('job %s is a watch, which has no runs', one.name),
                                    'name a job that runs here, or give this one times of its own');
    END IF;
    SELECT w.name, j.name AS follower INTO one
    FROM lockstep.job w JOIN lockstep.schedule s ON s.after_job = w.job_id JOIN lockstep.job j ON j.job_id = s.job_id
    WHERE w.job_id = p_job_id AND w.is_watch LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse(
            'watch', pg_catalog.format('job %s runs after %s, and a watch has no runs', one.follower, one.name),
            pg_catalog.format('change or delete that one first: lockstep job show %s', one.follower));
    END IF;
    IF EXISTS (
        WITH RECURSIVE before AS (
            SELECT s.after_job FROM lockstep.schedule s WHERE s.job_id = p_job_id AND s.after_job IS NOT NULL
            UNION
            SELECT s.after_job
            FROM before b JOIN lockstep.schedule s ON s.job_id = b.after_job WHERE s.after_job IS NOT NULL)
        SELECT FROM before b WHERE b.after_job = p_job_id) THEN
        PERFORM lockstep.job_refuse(
            'schedules', pg_catalog.format('job %s would run after itself', p_name),
            'break the circle: a schedule of the kind "after" names a job that does not wait for this one');
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_circle(int, text) FROM PUBLIC;
