-- Makes a job, or changes it (docs/reference/jobs.md has the fields). version: the version that is changed; LS002 if
-- another login has changed it before; NULL: any version. The answer is the version after the change.
CREATE OR REPLACE FUNCTION lockstep.job_define(spec jsonb, version int DEFAULT NULL) RETURNS int
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (lockstep.job_save(spec, version)).version
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_define(jsonb, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_define(jsonb, int) TO lockstep_operator;
