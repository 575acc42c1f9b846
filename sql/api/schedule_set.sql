-- Changes some fields of a schedule: those of `change`; one that is null there is as if it had never been set. Another
-- kind takes nothing of the old rule but its zone and bounds. version: as job_define. Returns the job's new version, or
-- the one that it has where nothing changes.
CREATE OR REPLACE FUNCTION lockstep.schedule_set(job text, schedule text, change jsonb, version int DEFAULT NULL)
RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    KEPT CONSTANT text[] := '{name,enabled,misfire,catchup_window,jitter,grace,zone,not_before,not_after}';
    own CONSTANT lockstep.job := lockstep.job_named(schedule_set.job, schedule_set.version, true);
    at CONSTANT int := lockstep.schedule_place(own, schedule_set.schedule);
    old CONSTANT jsonb := own.spec -> 'schedules' -> at;
    made jsonb;
    spec jsonb;
BEGIN
    IF jsonb_typeof(schedule_set.change) IS DISTINCT FROM 'object' THEN
        PERFORM lockstep.job_refuse('change', 'it is no JSON object',
                                    'write the fields that change: {"expr": "0 3 * * *"}');
    ELSIF schedule_set.change ? 'name' AND schedule_set.change ->> 'name' IS DISTINCT FROM schedule_set.schedule THEN
        PERFORM lockstep.job_refuse('name', 'a schedule keeps its name', 'add another, and remove this one');
    END IF;
    SELECT jsonb_object_agg(e.key, e.value) INTO made
    FROM jsonb_each(CASE WHEN schedule_set.change ->> 'kind' <> old ->> 'kind' THEN (
                             SELECT jsonb_object_agg(k.key, k.value) FROM jsonb_each(old) AS k WHERE k.key = ANY (KEPT))
                         ELSE old END
                    || schedule_set.change) AS e
    WHERE NOT (schedule_set.change ? e.key AND e.value = 'null');
    spec := jsonb_set(own.spec, ARRAY['schedules', at::text], made);
    IF lockstep.job_normal(spec) = own.spec THEN
        RETURN own.version;
    END IF;
    RETURN (lockstep.job_save(spec)).version;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_set(text, text, jsonb, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.schedule_set(text, text, jsonb, int) TO lockstep_operator;
