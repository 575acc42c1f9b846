-- Refuses a template whose tasks would be refused when it fires: a word that is not known, or a task that is none.
CREATE OR REPLACE FUNCTION lockstep.job_try(p_job lockstep.job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    words CONSTANT jsonb := lockstep.job_words(p_job, 'schedule', 'try', pg_catalog.gen_random_uuid(), pg_catalog.now(),
                                               pg_catalog.now(), NULL);
BEGIN
    PERFORM lockstep.job_bind('query', p_job.spec ->> 'query', words),
            lockstep.job_bind('trigger.mark', p_job.spec #>> '{trigger,mark}', words);
    PERFORM lockstep.enqueue_check(t.task, t.n)
    FROM pg_catalog.unnest(lockstep.job_tasks(p_job.spec, words)) WITH ORDINALITY AS t (task, n);
    PERFORM lockstep.job_fixed(pg_catalog.format('tasks[%s]', t.n), t.task)
    FROM pg_catalog.jsonb_array_elements(COALESCE(p_job.spec -> 'tasks', '[]')) WITH ORDINALITY AS t (task, n);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_try(lockstep.job) FROM PUBLIC;
