-- Adds a schedule to a job: an object with the fields of a schedule (docs/reference/jobs.md). version: as job_define.
-- Returns the job's new version.
CREATE OR REPLACE FUNCTION lockstep.schedule_add(job text, schedule jsonb, version int DEFAULT NULL) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(schedule_add.job, schedule_add.version, true);
    had CONSTANT jsonb := COALESCE(own.spec -> 'schedules', '[]');
BEGIN
    IF jsonb_path_exists(had, '$[*] ? (@.name == $n)', jsonb_build_object('n', schedule_add.schedule -> 'name')) THEN
        PERFORM lockstep.job_refuse(
            'name', format('job %s has a schedule "%s" already', own.name, schedule_add.schedule ->> 'name'),
            format('change it, lockstep schedule set %s %s, or take another name', own.name,
                   schedule_add.schedule ->> 'name'));
    END IF;
    RETURN (lockstep.job_save(own.spec || jsonb_build_object(
                                  'schedules', had || jsonb_build_array(schedule_add.schedule)))).version;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_add(text, jsonb, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.schedule_add(text, jsonb, int) TO lockstep_operator;
