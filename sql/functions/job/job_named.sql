-- The job of this name, its row locked when p_lock says so; LS003: there is none. p_version: of which the caller
-- speaks; LS002: it was changed since.
CREATE OR REPLACE FUNCTION lockstep.job_named(p_name text, p_version int DEFAULT NULL, p_lock boolean DEFAULT false)
RETURNS lockstep.job LANGUAGE plpgsql AS $$
DECLARE
    job lockstep.job;
BEGIN
    IF p_lock THEN
        SELECT j.* INTO job FROM lockstep.job j WHERE j.name = p_name FOR NO KEY UPDATE;
    ELSE
        SELECT j.* INTO job FROM lockstep.job j WHERE j.name = p_name;
    END IF;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no job %', COALESCE(pg_catalog.left(p_name, 200), 'without a name')
            USING ERRCODE = 'LS003', HINT = 'lockstep job list';
    ELSIF job.version <> p_version THEN
        RAISE EXCEPTION 'job % was changed: it is of version %, not %', p_name, job.version, p_version
            USING ERRCODE = 'LS002', HINT = pg_catalog.format('Look at it again: lockstep job show %s', p_name);
    END IF;
    RETURN job;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_named(text, int, boolean) FROM PUBLIC;
