-- Schedule number p_number of a job, as a user wrote it, as a row that is not stored yet. A schedule without a meaning
-- is refused.
CREATE OR REPLACE FUNCTION lockstep.schedule_of(p_job lockstep.job, p_spec jsonb, p_number bigint)
RETURNS lockstep.schedule LANGUAGE plpgsql AS $$
DECLARE
    FIELDS CONSTANT text[] := '{name,enabled,misfire,catchup_window,jitter,grace,kind,zone,not_before,not_after,expr,'
                              'every,phase,times,days,at,job,on,freq_type,freq_interval,freq_subday_type,'
                              'freq_subday_interval,freq_relative_interval,freq_recurrence_factor,active_start_date,'
                              'active_end_date,active_start_time,active_end_time,trigger}';
    place CONSTANT text := pg_catalog.format('schedules[%s]', p_number);
    made lockstep.schedule;
    word text;
BEGIN
    IF pg_catalog.jsonb_typeof(p_spec) IS DISTINCT FROM 'object' THEN
        PERFORM lockstep.job_refuse(
            place, 'it is no JSON object',
            'write {"name": "nightly", "kind": "cron", "expr": "0 2 * * *", "zone": "Europe/Warsaw"}');
    END IF;
    SELECT k INTO word FROM pg_catalog.jsonb_object_keys(p_spec) AS k WHERE k <> ALL (FIELDS) ORDER BY k LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse(place || '.' || pg_catalog.left(word, 100), 'a schedule has no such field',
                                    'it has '
                                    || pg_catalog.array_to_string(pg_catalog.array_remove(FIELDS, 'trigger'), ', '));
    ELSIF COALESCE(p_spec ->> 'name', '') !~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$' THEN
        PERFORM lockstep.job_refuse(
            place || '.name',
            pg_catalog.format('"%s" is no name of a schedule', pg_catalog.left(p_spec ->> 'name', 100)),
            'write 1 to 63 letters, digits, dots, hyphens or underscores, in ASCII, the first no dot or hyphen');
    ELSIF pg_catalog.jsonb_typeof(COALESCE(p_spec -> 'enabled', 'true')) <> 'boolean' THEN
        PERFORM lockstep.job_refuse(place || '.enabled', 'it is neither true nor false', 'write true or false');
    ELSIF COALESCE(p_spec ->> 'misfire', 'once') NOT IN ('once', 'all', 'skip') THEN
        PERFORM lockstep.job_refuse(place || '.misfire',
                                    pg_catalog.format('"%s" is not known', pg_catalog.left(p_spec ->> 'misfire', 64)),
                                    'write once, all or skip');
    END IF;
    made.name := p_spec ->> 'name';
    made.job_id := p_job.job_id;
    made.spec := p_spec;
    made.is_active := p_job.enabled AND COALESCE((p_spec ->> 'enabled')::boolean, true);
    made.misfire := COALESCE(p_spec ->> 'misfire', 'once');
    made.catchup_window := pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                        place || '.catchup_window',
                                                        COALESCE(p_spec ->> 'catchup_window', '1h'), 1));
    made.jitter := pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                place || '.jitter', COALESCE(p_spec ->> 'jitter', '0s'), 0));
    IF p_spec ->> 'kind' = 'after' AND p_spec ? 'grace' THEN
        PERFORM lockstep.job_refuse(place || '.grace', 'what follows another job has no time at which it is expected',
                                    'leave it out');
    END IF;
    made.grace := CASE WHEN p_spec ->> 'grace' IS NOT NULL
                           THEN pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                             place || '.grace', p_spec ->> 'grace', 1)) END;
    made.uses_sql := p_job.spec ? 'query' OR p_spec ? 'trigger';
    IF p_spec ? 'trigger' THEN
        IF p_spec ->> 'kind' IS DISTINCT FROM 'trigger'
           OR p_job.spec -> 'trigger' IS DISTINCT FROM p_spec -> 'trigger' THEN
            PERFORM lockstep.job_refuse(place || '.trigger', 'a schedule has no trigger',
                                        'write "trigger" as a field of the job');
        END IF;
        made.rows_rule := lockstep.job_trigger(p_spec -> 'trigger');
    ELSIF p_spec ->> 'kind' = 'after' THEN
        IF p_job.is_watch THEN
            PERFORM lockstep.job_refuse(place || '.kind', 'a watch is expected at times',
                                        'write cron, interval, daily, weekly, monthly, calendar or once');
        END IF;
        made.after_end := COALESCE(p_spec ->> 'on', 'success');
        IF made.after_end NOT IN ('success', 'failure', 'always') THEN
            PERFORM lockstep.job_refuse(place || '.on',
                                        pg_catalog.format('"%s" is not known', pg_catalog.left(made.after_end, 64)),
                                        'write success, failure or always');
        END IF;
        -- one that is being deleted is waited for, and gone then
        PERFORM FROM lockstep.job j WHERE j.name = p_spec ->> 'job' FOR KEY SHARE;
        made.after_job := (lockstep.job_named(p_spec ->> 'job')).job_id;
    ELSE
        made.rule := lockstep.rule_of(p_spec);
    END IF;
    RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_of(lockstep.job, jsonb, bigint) FROM PUBLIC;
