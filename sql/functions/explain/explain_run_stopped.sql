-- A run that has not ended and that an operator, a failure or a replay holds, for explain_run: it was cancelled, it is
-- paused, by an operator or its policy or both, or a replay acts on it.
CREATE OR REPLACE FUNCTION lockstep.explain_run_stopped(p_run lockstep.run, p_about text, p_names text[])
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
BEGIN
    IF p_run.cancelled_at IS NOT NULL THEN
        RETURN NEXT lockstep.explain_row(
            'run_stopping',
            pg_catalog.format('%s was %s; %s of its tasks still run', p_about, p_run.error,
                (SELECT pg_catalog.count(*) FROM lockstep.phase p JOIN lockstep.task t USING (phase_id)
                 WHERE p.run_no = p_run.run_no AND p.done_at IS NULL AND NOT lockstep.is_finished(t.status))),
            p_about, p_run.cancelled_at, p_names);
    ELSIF p_run.paused_by IS NOT NULL THEN
        RETURN NEXT lockstep.explain_row('run_paused',
                                         pg_catalog.format('%s is paused by %s%s', p_about, p_run.paused_by,
                                                           (SELECT ': ' || l.detail
                                                            FROM lockstep.event_log l
                                                            WHERE l.run_no = p_run.run_no AND l.event = 'run_paused'
                                                              AND l.at >= p_run.paused_at
                                                            ORDER BY l.event_id LIMIT 1)),
                                         p_about, p_run.paused_at, p_names);
    END IF;
    IF p_run.failure_at IS NOT NULL THEN
        RETURN NEXT lockstep.explain_row(
            'run_paused_by_failure',
            pg_catalog.format('%s waits for an operator (on_failure = pause): %s', p_about, p_run.error),
            p_about, p_run.failure_at, p_names);
    END IF;
    IF p_run.replay_id IS NOT NULL THEN
        RETURN NEXT lockstep.explain_row(
            'run_replay', pg_catalog.format('replay %s is going over %s', p_run.replay_id, p_about), p_about,
            (SELECT y.started_at FROM lockstep.replay y WHERE y.replay_id = p_run.replay_id),
            p_names || ARRAY['REPLAY', p_run.replay_id::text]);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_run_stopped(lockstep.run, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_run_stopped(lockstep.run, text, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
