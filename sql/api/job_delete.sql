-- Deletes a job with its schedules and the record of its times. Its runs stay, and an open run continues. version: as
-- job_define.
CREATE OR REPLACE FUNCTION lockstep.job_delete(job text, version int DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own lockstep.job;
    follower text;
BEGIN
    -- a session that makes a follower of it holds the row's key: it is waited for, and seen then
    PERFORM FROM lockstep.job j WHERE j.name = job_delete.job FOR UPDATE;
    own := lockstep.job_named(job_delete.job, job_delete.version, true);
    SELECT j.name INTO follower
    FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE s.after_job = own.job_id LIMIT 1;
    IF follower IS NOT NULL THEN
        RAISE EXCEPTION 'job % runs after %', follower, own.name
            USING ERRCODE = 'LS002', HINT = format('Change or delete it first: lockstep job show %s', follower);
    END IF;
    DELETE FROM lockstep.job j WHERE j.job_id = own.job_id;
    PERFORM lockstep.job_note(own.name, 'changed', lockstep.actor(), 'deleted');
    PERFORM pg_notify('lockstep_jobs', own.name);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_delete(text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_delete(text, int) TO lockstep_operator;
