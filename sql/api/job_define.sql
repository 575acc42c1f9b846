-- Makes a job, or changes it (docs/reference/jobs.md has the fields). version: which one is changed; LS002 if somebody
-- was quicker; NULL: whichever there is. Returns the version that it has then.
CREATE OR REPLACE FUNCTION lockstep.job_define(spec jsonb, version int DEFAULT NULL) RETURNS int
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (lockstep.job_save(spec, version)).version
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_define(jsonb, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_define(jsonb, int) TO lockstep_operator;
