-- Makes a job, or changes it: all commands and functions do so by this one. The answer is its row after the change.
-- p_by_file: the spec comes from that file.
CREATE OR REPLACE FUNCTION lockstep.job_save(p_spec jsonb, p_version int DEFAULT NULL, p_by_file text DEFAULT NULL)
RETURNS lockstep.job LANGUAGE plpgsql AS $$
DECLARE
    job lockstep.job;
    is_new boolean;
    runtime CONSTANT text := p_spec ->> 'max_runtime';
    expected CONSTANT text := p_spec ->> 'max_expected';
BEGIN
    PERFORM lockstep.job_check(p_spec);
    p_spec := lockstep.job_normal(p_spec);
    job.is_watch := COALESCE(p_spec -> 'watch' = 'true', false);
    -- one that is being deleted is waited for, and gone then
    SELECT q.queue_id INTO job.queue_id FROM lockstep.queue q WHERE q.name = p_spec ->> 'queue' FOR KEY SHARE;
    IF NOT FOUND AND NOT job.is_watch THEN
        RAISE EXCEPTION 'there is no queue %', pg_catalog.left(p_spec ->> 'queue', 200)
            USING ERRCODE = 'LS003', HINT = 'lockstep queue list';
    END IF;
    job.enabled := COALESCE((p_spec ->> 'enabled')::boolean, true);
    job.overlap := COALESCE(p_spec ->> 'overlap', 'skip');
    job.zombie_after := pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                     'zombie_after', COALESCE(p_spec ->> 'zombie_after', '30m'), 1));
    job.max_runtime := CASE WHEN runtime IS NOT NULL THEN pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                                                       'max_runtime', runtime, 1)) END;
    job.max_expected := CASE WHEN expected IS NOT NULL
                                 THEN pg_catalog.make_interval(secs => lockstep.rule_seconds(
                                                                   'max_expected', expected, 1)) END;
    INSERT INTO lockstep.job (name, is_watch, queue_id, spec, enabled, overlap, zombie_after, max_runtime, max_expected,
                              file, declared)
    VALUES (p_spec ->> 'job', job.is_watch, job.queue_id, p_spec, job.enabled, job.overlap, job.zombie_after,
            job.max_runtime, job.max_expected, p_by_file, CASE WHEN p_by_file IS NOT NULL THEN p_spec END)
    ON CONFLICT (name) DO NOTHING;
    is_new := FOUND;
    IF is_new AND p_version IS NOT NULL THEN
        RAISE EXCEPTION 'there is no job % of version %', p_spec ->> 'job', p_version
            USING ERRCODE = 'LS003', HINT = 'lockstep job list';
    END IF;
    IF NOT is_new THEN
        PERFORM lockstep.job_named(p_spec ->> 'job', p_version, true);
        UPDATE lockstep.job j
        SET is_watch = job.is_watch, queue_id = job.queue_id, spec = p_spec, enabled = job.enabled,
            overlap = job.overlap, zombie_after = job.zombie_after, max_runtime = job.max_runtime,
            max_expected = job.max_expected, version = j.version + 1, changed_at = pg_catalog.clock_timestamp(),
            changed_by = lockstep.actor(), file = COALESCE(p_by_file, j.file),
            declared = CASE WHEN p_by_file IS NOT NULL THEN p_spec ELSE j.declared END
        WHERE j.name = p_spec ->> 'job';
    END IF;
    job := lockstep.job_named(p_spec ->> 'job');
    IF NOT job.is_watch THEN
        PERFORM lockstep.job_try(job);
    END IF;
    PERFORM lockstep.job_request_end(a, 'skipped', CASE WHEN job.is_watch THEN 'the job has become a watch'
                                                        ELSE 'its schedule was removed' END, lockstep.actor())
    FROM lockstep.job_ask a LEFT JOIN lockstep.schedule s ON s.schedule_id = a.fills
    WHERE a.job_id = job.job_id AND a.wake_at IS NOT NULL
      AND (job.is_watch
           OR s.schedule_id IS NOT NULL
              AND NOT EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(job.spec -> 'schedules') AS n
                              WHERE n ->> 'name' = s.name));
    -- Results of the SQL of the version before are not used; a request gets those of this one.
    DELETE FROM lockstep.job_ask a WHERE a.job_id = job.job_id AND a.wake_at IS NULL;
    UPDATE lockstep.job_ask a SET token = pg_catalog.gen_random_uuid(), wake_at = pg_catalog.clock_timestamp()
    WHERE a.job_id = job.job_id;
    UPDATE lockstep.schedule s SET asked_until = NULL WHERE s.job_id = job.job_id AND s.asked_until IS NOT NULL;
    PERFORM lockstep.job_schedules(job);
    IF p_by_file IS NULL THEN -- the jobs of a file are checked together, when all are saved
        PERFORM lockstep.job_circle(job.job_id, job.name);
    END IF;
    PERFORM lockstep.job_note(job.name, 'changed', lockstep.actor(),
                              CASE job.version WHEN 1 THEN 'made' ELSE 'version ' || job.version END
                                  || COALESCE(' by ' || p_by_file, ''));
    PERFORM pg_catalog.pg_notify('lockstep_jobs', job.name);
    RETURN job;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_save(jsonb, int, text) FROM PUBLIC;
