-- As lockstep.job_run, for a job with SQL of its own: takes a token, with which the caller runs mark and query as the
-- tasks' login, in the transaction of lockstep.fire. NULL token: it has none, and is fired by lockstep.job_run.
CREATE OR REPLACE FUNCTION lockstep.job_run_ask(
    p_job text, p_params jsonb, OUT token uuid, OUT mark text, OUT query text, OUT words jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(p_job, NULL, true);
    now CONSTANT timestamptz := clock_timestamp();
    run CONSTANT uuid := gen_random_uuid();
    source CONSTANT text := 'manual by ' || lockstep.actor();
BEGIN
    PERFORM lockstep.job_run_check(own, p_params);
    IF lockstep.job_has_sql(own.spec) THEN
        INSERT INTO lockstep.job_ask (job_id, scheduled_for, run_id, asked_at, source, params, asked_by)
        VALUES (own.job_id, now, run, now, source, p_params, lockstep.actor()) RETURNING token INTO token;
        words := lockstep.job_words(own, NULL, source, run, now, now, p_params);
        mark := lockstep.job_bind('trigger.mark', own.spec #>> '{trigger,mark}', words);
        query := lockstep.job_bind('query', own.spec ->> 'query', words);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_run_ask(text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_run_ask(text, jsonb) TO lockstep_operator, lockstep_producer;
