-- Takes a schedule from a job; its occurrences stay, as those of no schedule. version: as job_define. Returns the job's
-- new version.
CREATE OR REPLACE FUNCTION lockstep.schedule_remove(job text, schedule text, version int DEFAULT NULL) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(schedule_remove.job, schedule_remove.version, true);
    left_over CONSTANT jsonb := (own.spec -> 'schedules') - lockstep.schedule_place(own, schedule_remove.schedule);
BEGIN
    RETURN (lockstep.job_save(jsonb_set(own.spec, '{schedules}', left_over))).version;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_remove(text, text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.schedule_remove(text, text, int) TO lockstep_operator;
