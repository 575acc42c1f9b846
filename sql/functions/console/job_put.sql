-- Gives job `job` a definition, as lockstep.job_define does, or only reports the effect. version: the version that is
-- changed; NULL: any. The definition need not name the job; another name is refused.
CREATE OR REPLACE FUNCTION lockstep.job_put(job text, definition jsonb, version int, dry_run boolean, reason text)
RETURNS json LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    spec CONSTANT jsonb := jsonb_build_object('job', job_put.job) || job_put.definition;
    before lockstep.job;
    saved lockstep.job;
    answer json;
BEGIN
    IF spec ->> 'job' IS DISTINCT FROM job_put.job THEN
        PERFORM lockstep.job_refuse('job', 'a job keeps its name',
                                    'leave the field out, or make another job and delete this one');
    END IF;
    SELECT j.* INTO before FROM lockstep.job j WHERE j.name = job_put.job;
    BEGIN
        IF before.spec = lockstep.job_normal(spec)
           AND (job_put.version IS NULL OR job_put.version = before.version) THEN
            saved := before;
        ELSE
            saved := lockstep.job_save(spec, job_put.version);
            IF job_put.reason IS NOT NULL THEN
                PERFORM lockstep.job_why(saved.name, 'version ' || saved.version, job_put.reason);
            END IF;
        END IF;
        answer := json_build_object('job', saved.name, 'version', saved.version, 'dry_run', job_put.dry_run,
                                    'action',
                                        CASE WHEN before.job_id IS NULL THEN 'create'
                                             WHEN saved.version = before.version THEN 'unchanged' ELSE 'change' END);
        IF job_put.dry_run THEN
            RAISE EXCEPTION 'dry run' USING ERRCODE = 'LS00D';
        END IF;
    EXCEPTION
        WHEN SQLSTATE 'LS00D' THEN
            NULL; -- undone
    END;
    RETURN answer;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_put(text, jsonb, int, boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_put(text, jsonb, int, boolean, text) TO lockstep_operator;
