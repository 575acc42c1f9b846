-- Fires a job: enqueues the run of its template, and writes the occurrence and the log. NULL p_schedule: by hand. A run
-- of this id that is known already was sent by a time that was undone: nothing is sent again, and it may have ended.
-- p_tasks: instead of the template's; p_rows: of how many rows; p_run: by hand, when it is known already. Returns the
-- run's id.
CREATE OR REPLACE FUNCTION lockstep.job_fire(
    p_job lockstep.job, p_schedule lockstep.schedule, p_for timestamptz, p_source text, p_by text, p_params jsonb,
    p_missed_from timestamptz, p_missed_count int, p_tasks jsonb[] DEFAULT NULL, p_rows bigint DEFAULT NULL,
    p_run uuid DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    run CONSTANT uuid := CASE WHEN p_schedule.schedule_id IS NULL THEN COALESCE(p_run, pg_catalog.gen_random_uuid())
                              ELSE lockstep.job_run_id(p_schedule.schedule_uid, p_for) END;
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
    words jsonb;
    known lockstep.run;
BEGIN
    IF p_tasks IS NULL AND p_job.spec ? 'query' THEN
        RAISE EXCEPTION 'the tasks of job % come from its query, which only the tasks'' login runs', p_job.name
            USING ERRCODE = 'LS002', HINT = pg_catalog.format('lockstep job run %s', p_job.name);
    END IF;
    IF NOT EXISTS (SELECT FROM lockstep.run r WHERE r.queue_id = p_job.queue_id AND r.run_id = run) THEN
        IF p_tasks IS NULL AND pg_catalog.strpos((p_job.spec -> 'tasks')::text, '${') > 0 THEN
            words := lockstep.job_words(p_job, p_schedule.name, p_source, run, p_for, now, p_params)
                || pg_catalog.jsonb_build_object('rows', p_rows);
        END IF;
        PERFORM lockstep.enqueue_run(p_job.queue_id, COALESCE(p_tasks, lockstep.job_tasks(p_job.spec, words)),
                                     p_job.name, run, p_job.job_id, p_source,
                                     p_checked => p_tasks IS NULL AND words IS NULL); -- by job_try, as they are
    ELSE -- read from the topic
        UPDATE lockstep.run r SET job_id = p_job.job_id, started_by = p_source
        WHERE r.queue_id = p_job.queue_id AND r.run_id = run AND r.job_id IS NULL;
        SELECT r.* INTO known
        FROM lockstep.run r
        WHERE r.queue_id = p_job.queue_id AND r.run_id = run AND r.job_id = p_job.job_id AND r.ended_at IS NOT NULL;
    END IF;
    INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, decided_at, outcome, source, run_id,
                                         missed_from, missed_count, dispatcher, rows)
    VALUES (p_job.job_id, p_schedule.schedule_id, p_for, now, 'fired', p_source, run, p_missed_from, p_missed_count,
            p_by, p_rows);
    PERFORM lockstep.job_note(p_job.name, 'fired', p_source,
                              CASE WHEN p_missed_count > 0 THEN pg_catalog.format(
                                       '%s times before it were missed, from %s on', p_missed_count,
                                       lockstep.job_time(p_missed_from)) END,
                              run, NULL, p_rows);
    IF known.ended_at IS NOT NULL THEN
        PERFORM lockstep.job_ended(known);
    END IF;
    RETURN run;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_fire(
    lockstep.job, lockstep.schedule, timestamptz, text, text, jsonb, timestamptz, int, jsonb[], bigint, uuid)
    FROM PUBLIC;
