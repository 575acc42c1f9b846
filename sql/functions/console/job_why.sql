-- Writes into the jobs' log the reason that a person gave for a change of a job.
CREATE OR REPLACE FUNCTION lockstep.job_why(job text, what text, reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM lockstep.job_note((lockstep.job_named(job_why.job)).name, 'changed', lockstep.actor(),
                              left(concat_ws(': ', job_why.what, job_why.reason), 2000));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_why(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_why(text, text, text) TO lockstep_operator;
