-- Refuses a range that cannot be filled.
CREATE OR REPLACE FUNCTION lockstep.job_backfill_check(
    p_job lockstep.job, p_from timestamptz, p_to timestamptz, p_schedule text, p_overlap text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
    times CONSTANT text := (SELECT pg_catalog.string_agg(s.name, ', ' ORDER BY s.name)
                            FROM lockstep.schedule s WHERE s.job_id = p_job.job_id AND s.after_job IS NULL);
BEGIN
    IF p_job.is_watch THEN
        RAISE EXCEPTION 'job % is a watch: it is done elsewhere', p_job.name
            USING ERRCODE = 'LS002', HINT = pg_catalog.format('lockstep job show %s', p_job.name);
    ELSIF p_job.spec ? 'trigger' THEN
        PERFORM lockstep.job_refuse('trigger',
                                    pg_catalog.format('job %s fires when rows wait and has no times', p_job.name),
                                    pg_catalog.format('run it by hand: lockstep job run %s', p_job.name));
    ELSIF COALESCE(p_overlap, '') NOT IN ('queue_one', 'allow', 'skip') THEN
        PERFORM lockstep.job_refuse('overlap', pg_catalog.format('"%s" is not known', pg_catalog.left(p_overlap, 64)),
                                    'write queue_one (one after the other), allow (all at once) or skip');
    ELSIF p_from IS NULL OR NOT pg_catalog.isfinite(p_from) THEN
        PERFORM lockstep.job_refuse('from', 'it is no time', 'write the first time of the range: 2026-01-01T00:00:00Z');
    ELSIF p_from < '0001-01-01T00:00:00Z' THEN
        PERFORM lockstep.job_refuse('from', 'it is before the year 1', 'write a later time');
    ELSIF p_to IS NULL OR NOT pg_catalog.isfinite(p_to) OR p_to <= p_from THEN
        PERFORM lockstep.job_refuse('to', 'it is not after from',
                                    'write the end of the range, which is not part of it: 2026-02-01T00:00:00Z');
    ELSIF p_to > now THEN
        PERFORM lockstep.job_refuse(
            'to', 'times that are to come are fired by the dispatcher',
            pg_catalog.format('write %s or earlier', lockstep.job_time(pg_catalog.date_trunc('second', now))));
    ELSIF times IS NULL THEN
        PERFORM lockstep.job_refuse('job', pg_catalog.format('%s has no schedule with times', p_job.name),
                                    pg_catalog.format('run it by hand: lockstep job run %s', p_job.name));
    ELSIF p_schedule IS NOT NULL
          AND NOT EXISTS (SELECT FROM lockstep.schedule s
                          WHERE s.job_id = p_job.job_id AND s.after_job IS NULL AND s.name = p_schedule) THEN
        PERFORM lockstep.job_refuse(
            'schedule',
            pg_catalog.format('job %s has no schedule "%s" with times', p_job.name, pg_catalog.left(p_schedule, 64)),
            'it has ' || times);
    END IF;
    PERFORM lockstep.job_isolation(NULL);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_backfill_check(lockstep.job, timestamptz, timestamptz, text, text) FROM PUBLIC;
