-- A run that has ended, for explain_run: it is complete, or some of its tasks failed, were cancelled or were rejected;
-- a retry runs those that failed or were cancelled.
CREATE OR REPLACE FUNCTION lockstep.explain_run_ended(p_run lockstep.run, p_about text, p_names text[])
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    refused record;
BEGIN
    SELECT m.kafka_offset, m.reason INTO refused FROM lockstep.rejected_message m
    WHERE m.run_no = p_run.run_no AND m.redriven_at IS NULL
      AND NOT lockstep.redrive_made(m.queue_id, m.redrive_noted)
    ORDER BY m.kafka_offset LIMIT 1;
    IF p_run.status <> 'Completed' AND refused.kafka_offset IS NOT NULL AND lockstep.run_retryable(p_run.run_no) THEN
        RETURN NEXT lockstep.explain_row(
            'run_incomplete',
            pg_catalog.format('%s has ended, %s: %s; the first at offset %s: %s', p_about, p_run.status, p_run.error,
                              refused.kafka_offset, refused.reason),
            p_about, p_run.ended_at, p_names);
        RETURN NEXT lockstep.explain_row(
            'run_retryable',
            pg_catalog.format(
                'a retry of %s runs what failed or was cancelled, and what was rejected is missing from it', p_about),
            p_about, p_run.ended_at, p_names);
        RETURN;
    END IF;
    RETURN NEXT lockstep.explain_row(
        CASE WHEN p_run.status = 'Completed' THEN 'run_ended'
             WHEN lockstep.run_retryable(p_run.run_no) THEN 'run_retryable'
             WHEN p_run.status = 'Cancelled' AND p_run.tasks = 0 THEN 'run_ended' ELSE 'run_incomplete' END,
        pg_catalog.concat_ws(': ', p_about || ' has ended, ' || p_run.status, p_run.error), p_about,
        p_run.ended_at, p_names);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_run_ended(lockstep.run, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_run_ended(lockstep.run, text, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
