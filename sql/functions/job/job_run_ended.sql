-- The end of a run of a job, when its row says so.
CREATE OR REPLACE FUNCTION lockstep.job_run_ended() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM lockstep.job_ended(NEW);
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_run_ended() FROM PUBLIC;
