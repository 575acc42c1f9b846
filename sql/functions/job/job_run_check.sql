-- Refuses what cannot be run by hand: by this login, with these parameters, now.
CREATE OR REPLACE FUNCTION lockstep.job_run_check(p_job lockstep.job, p_params jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    word text;
BEGIN
    IF EXISTS (SELECT FROM lockstep.schedule s WHERE s.job_id = p_job.job_id)
       AND NOT pg_catalog.pg_has_role(SESSION_USER, 'lockstep_operator', 'MEMBER') THEN
        RAISE EXCEPTION 'job % has schedules: only a lockstep_operator runs it by hand', p_job.name
            USING ERRCODE = 'insufficient_privilege', HINT = 'A lockstep_producer runs jobs that have none.';
    ELSIF p_job.is_watch THEN
        RAISE EXCEPTION 'job % is a watch: it is done elsewhere', p_job.name
            USING ERRCODE = 'LS002',
                  HINT = pg_catalog.format('Who does it reports with lockstep.ping(%L).', p_job.name);
    ELSIF pg_catalog.jsonb_typeof(COALESCE(p_params, '{}')) <> 'object' THEN
        PERFORM lockstep.job_refuse('params', 'it is no JSON object', 'write {"region": "eu"}');
    END IF;
    SELECT k INTO word
    FROM pg_catalog.jsonb_object_keys(COALESCE(p_params, '{}')) AS k
    WHERE NOT COALESCE(p_job.spec -> 'defaults', '{}') ? k ORDER BY k LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse(
            pg_catalog.left(word, 64), pg_catalog.format('job %s has no such parameter', p_job.name),
            COALESCE('it has ' || (SELECT pg_catalog.string_agg(k, ', ' ORDER BY k)
                                   FROM pg_catalog.jsonb_object_keys(p_job.spec -> 'defaults') AS k),
                     'its parameters are the fields of "defaults"'));
    END IF;
    PERFORM lockstep.job_run_guard(p_job);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_run_check(lockstep.job, jsonb) FROM PUBLIC;
