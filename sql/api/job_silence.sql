-- No alert is raised for a job until then: a maintenance window. until NULL: the silence ends now.
CREATE OR REPLACE FUNCTION lockstep.job_silence(job text, until timestamptz, reason text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    MOST CONSTANT interval := interval '366 days';
    own CONSTANT lockstep.job := lockstep.job_named(job_silence.job);
    now CONSTANT timestamptz := clock_timestamp();
BEGIN
    IF job_silence.until IS NULL THEN
        DELETE FROM lockstep.job_silence s WHERE s.job_id = own.job_id AND s.until > now;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'job % is not silenced', own.name USING ERRCODE = 'LS002', HINT = 'lockstep monitor list';
        END IF;
    ELSIF job_silence.until <= now THEN
        PERFORM lockstep.job_refuse('until',
                                    format('%s has passed', lockstep.job_time(date_trunc('second', job_silence.until))),
                                    'write a time to come');
    ELSIF job_silence.until > now + MOST THEN
        PERFORM lockstep.job_refuse('until', 'it is more than 366 days away',
                                    format('write an earlier time; a job that is not needed: lockstep job disable %s',
                                           own.name));
    ELSIF COALESCE(btrim(job_silence.reason), '') = '' THEN
        PERFORM lockstep.job_refuse('reason', 'it is missing', 'write why nothing is to be raised');
    ELSE
        INSERT INTO lockstep.job_silence (job_id, until, reason, set_by, set_at)
        VALUES (own.job_id, job_silence.until, left(job_silence.reason, 2000), lockstep.actor(), now)
        ON CONFLICT (job_id) DO UPDATE SET
            until = EXCLUDED.until, reason = EXCLUDED.reason, set_by = EXCLUDED.set_by, set_at = EXCLUDED.set_at;
    END IF;
    PERFORM lockstep.job_note(own.name, 'changed', lockstep.actor(),
                              CASE WHEN job_silence.until IS NULL THEN 'no longer silenced'
                                   ELSE format('silenced until %s: %s',
                                               lockstep.job_time(date_trunc('second', job_silence.until)),
                                               left(job_silence.reason, 2000)) END);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_silence(text, timestamptz, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_silence(text, timestamptz, text) TO lockstep_operator;
