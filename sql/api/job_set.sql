-- Changes some fields of a job: those of `change`; one that is null there is as if it had never been set. version: as
-- job_define. Returns the new version, or, where all of it was so already, the one that it has.
CREATE OR REPLACE FUNCTION lockstep.job_set(job text, change jsonb, version int DEFAULT NULL) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(job_set.job, job_set.version, true);
    spec jsonb;
BEGIN
    IF jsonb_typeof(job_set.change) IS DISTINCT FROM 'object' THEN
        PERFORM lockstep.job_refuse('change', 'it is no JSON object',
                                    'write the fields that change: {"enabled": false}');
    ELSIF job_set.change ? 'job' AND job_set.change ->> 'job' IS DISTINCT FROM own.name THEN
        PERFORM lockstep.job_refuse('job', 'a job keeps its name', 'make another, and delete this one');
    END IF;
    SELECT COALESCE(jsonb_object_agg(e.key, e.value), '{}') INTO spec FROM jsonb_each(own.spec || job_set.change) AS e
    WHERE NOT (job_set.change ? e.key AND e.value = 'null');
    IF lockstep.job_normal(spec) = own.spec THEN
        RETURN own.version;
    END IF;
    RETURN (lockstep.job_save(spec)).version;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_set(text, jsonb, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_set(text, jsonb, int) TO lockstep_operator;
