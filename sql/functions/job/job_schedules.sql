-- Makes the schedules of a job, and its trigger, from its spec. A schedule that is unchanged keeps its next time,
-- unless the job was disabled or has become a watch, or is a watch no more: a change, and a pause, fires no time.
CREATE OR REPLACE FUNCTION lockstep.job_schedules(p_job lockstep.job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    NAME CONSTANT text := 'trigger'; -- its name among the schedules
    specs CONSTANT jsonb := COALESCE(p_job.spec -> 'schedules', '[]')
                            || CASE WHEN p_job.spec ? NAME THEN pg_catalog.jsonb_build_array(
                                        pg_catalog.jsonb_build_object(
                                            'name', NAME, 'kind', NAME, NAME, p_job.spec -> NAME))
                                    ELSE '[]' END;
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
    made lockstep.schedule;
    old lockstep.schedule;
    one record;
    state text;
    why text;
    code text;
    advice text;
BEGIN
    FOR old IN
        SELECT s.*
        FROM lockstep.schedule s
        WHERE s.job_id = p_job.job_id
          AND NOT EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(specs) AS n WHERE n ->> 'name' = s.name)
        ORDER BY s.schedule_id FOR UPDATE
    LOOP
        PERFORM lockstep.job_dropped(old, 'removed');
        DELETE FROM lockstep.schedule s WHERE s.schedule_id = old.schedule_id;
    END LOOP;
    FOR one IN
        SELECT e.value, e.n, p_job.enabled AND e.value -> 'enabled' IS DISTINCT FROM 'false' AS enabled,
               CASE WHEN pg_catalog.jsonb_typeof(e.value) = 'object'
                         AND COALESCE(e.value -> 'enabled', 'true') IN ('true', 'false')
                        THEN e.value - 'enabled' END AS rest
        FROM pg_catalog.jsonb_array_elements(specs) WITH ORDINALITY AS e (value, n)
    LOOP
        SELECT s.* INTO old
        FROM lockstep.schedule s WHERE s.job_id = p_job.job_id AND s.name = one.value ->> 'name' FOR NO KEY UPDATE;
        -- An unchanged schedule was checked when it was made. Its zone or its table may be gone: only enabling asks for
        -- them.
        IF old.spec - 'enabled' = one.rest AND (old.is_active OR NOT one.enabled)
           AND (old.after_job IS NULL OR NOT p_job.is_watch) THEN
            made := old;
            made.spec := one.value;
            made.is_active := one.enabled;
            made.uses_sql := p_job.spec ? 'query' OR one.value ? NAME;
        ELSE
            BEGIN
                made := lockstep.schedule_of(p_job, one.value, one.n);
            EXCEPTION
                WHEN invalid_parameter_value OR SQLSTATE 'LS003' OR datetime_field_overflow OR interval_field_overflow
                     OR numeric_value_out_of_range THEN
                    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, why = MESSAGE_TEXT, code = PG_EXCEPTION_DETAIL,
                    advice = PG_EXCEPTION_HINT;
                    PERFORM lockstep.schedule_refuse(p_job.name, one.value, state, why, code, advice);
            END;
            PERFORM lockstep.zone_note((made.rule).zone);
        END IF;
        IF old.spec = made.spec AND old.is_active = made.is_active
           AND (old.next_at IS NULL OR (old.wake_at IS NULL) = p_job.is_watch) THEN
            UPDATE lockstep.schedule s SET uses_sql = made.uses_sql
            WHERE s.schedule_id = old.schedule_id AND s.uses_sql <> made.uses_sql;
            CONTINUE;
        END IF;
        made.next_at := CASE WHEN NOT made.is_active OR made.after_job IS NOT NULL THEN NULL
                             WHEN (made.rows_rule).relation IS NOT NULL THEN now
                             ELSE lockstep.rule_next(made.rule, now) END;
        IF made.next_at IS NULL AND made.is_active AND made.after_job IS NULL
           AND (old.schedule_id IS NULL OR old.spec <> made.spec) THEN
            PERFORM lockstep.job_refuse(pg_catalog.format('job %s, schedule %s', p_job.name, made.name),
                                        'it never fires after now',
                                        'write a time that is to come, or "enabled": false');
        END IF;
        made.wake_at := CASE WHEN NOT p_job.is_watch THEN made.next_at END
                        + lockstep.job_jitter(p_job.name, made, made.next_at);
        IF old.schedule_id IS NULL THEN
            INSERT INTO lockstep.schedule (job_id, name, spec, rule, after_job, after_end, is_active, misfire,
                                           catchup_window, jitter, grace, next_at, wake_at, rows_rule, uses_sql)
            VALUES (made.job_id, made.name, made.spec, made.rule, made.after_job, made.after_end, made.is_active,
                    made.misfire, made.catchup_window, made.jitter, made.grace, made.next_at, made.wake_at,
                    made.rows_rule, made.uses_sql);
        ELSE
            PERFORM lockstep.job_dropped(old, 'changed');
            UPDATE lockstep.schedule s
            SET spec = made.spec, rule = made.rule, after_job = made.after_job, after_end = made.after_end,
                is_active = made.is_active, misfire = made.misfire, catchup_window = made.catchup_window,
                jitter = made.jitter, grace = made.grace, next_at = made.next_at, wake_at = made.wake_at,
                queued_for = NULL, queued_missed_from = NULL, queued_missed = 0,
                rows_rule = made.rows_rule, uses_sql = made.uses_sql, look = NULL, failing_since = NULL,
                failing_why = NULL
            WHERE s.schedule_id = old.schedule_id;
        END IF;
    END LOOP;
    IF (SELECT pg_catalog.count(*) <> pg_catalog.count(DISTINCT n ->> 'name')
        FROM pg_catalog.jsonb_array_elements(specs) AS n) THEN
        PERFORM lockstep.job_refuse('schedules', 'two of them have one name', 'give each its own name');
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_schedules(lockstep.job) FROM PUBLIC;
