-- Executors that a signal holds, for explain_executors: each with the signal that frees it, three at most.
CREATE OR REPLACE FUNCTION lockstep.explain_signalled(p_executor_nos int[], p_about text, p_names text[])
RETURNS SETOF lockstep.explanation LANGUAGE sql AS $$
    SELECT e.*
    FROM lockstep.executor b
    CROSS JOIN LATERAL lockstep.explain_row(
        'executors_held',
        pg_catalog.format('executor %s on %s (pid %s) claims nothing for %s: a signal (SIGUSR1) holds it',
                          b.executor_id, b.host, b.pid, p_about),
        p_about, NULL, p_names || ARRAY['HOST', b.host, 'PID', b.pid::text]) AS e
    WHERE b.executor_no = ANY (p_executor_nos) ORDER BY b.executor_no LIMIT 3
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_signalled(int[], text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_signalled(int[], text, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
