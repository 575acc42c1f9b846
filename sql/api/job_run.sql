-- Fires a job by hand, in the caller's transaction. params override the job's defaults. What the job does when a run of it has not ended holds here, too: only
-- with overlap allow a second one begins. A producer may run jobs that have no schedules. Returns the run's id.
CREATE OR REPLACE FUNCTION lockstep.job_run(job text, params jsonb DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(job_run.job, NULL, true);
    word text;
    open record;
BEGIN
    IF EXISTS (SELECT FROM lockstep.schedule s WHERE s.job_id = own.job_id) AND NOT pg_has_role(session_user, 'lockstep_operator', 'MEMBER') THEN
        RAISE EXCEPTION 'job % has schedules: only a lockstep_operator runs it by hand', own.name USING ERRCODE = 'insufficient_privilege',
            HINT = 'A lockstep_producer runs jobs that have none.';
    ELSIF own.is_watch THEN
        RAISE EXCEPTION 'job % is a watch: it is done elsewhere', own.name USING ERRCODE = 'LS002', HINT = format('Who does it reports with lockstep.ping(%L).', own.name);
    ELSIF jsonb_typeof(COALESCE(job_run.params, '{}')) <> 'object' THEN
        PERFORM lockstep.job_refuse('params', 'it is no JSON object', 'write {"region": "eu"}');
    END IF;
    SELECT k INTO word FROM jsonb_object_keys(COALESCE(job_run.params, '{}')) AS k WHERE NOT COALESCE(own.spec -> 'defaults', '{}') ? k ORDER BY k LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse(left(word, 64), format('job %s has no such parameter', own.name),
            COALESCE('it has ' || (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(own.spec -> 'defaults') AS k), 'its parameters are the fields of "defaults"'));
    END IF;
    PERFORM lockstep.job_isolation(own.overlap);
    SELECT r.run_id, r.status, r.created_at INTO open FROM lockstep.run r WHERE r.job_id = own.job_id AND r.ended_at IS NULL ORDER BY r.run_no LIMIT 1;
    IF FOUND AND own.overlap <> 'allow' THEN
        RAISE EXCEPTION 'run % of job % is % since %', open.run_id, own.name, open.status, lockstep.job_time(date_trunc('second', open.created_at)) USING ERRCODE = 'LS002',
            HINT = format('Wait for its end, or cancel it: lockstep run cancel %s', open.run_id);
    END IF;
    RETURN lockstep.job_fire(own, NULL, clock_timestamp(), 'manual by ' || session_user, 'by hand', job_run.params, NULL, 0);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_run(text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_run(text, jsonb) TO lockstep_operator, lockstep_producer;
