-- The tasks of a run that `run retry` has tried again: those that failed, those that were cancelled because of a
-- failure, and those that an operator cancelled.
CREATE OR REPLACE FUNCTION lockstep.run_retried(p_run_no bigint)
RETURNS TABLE (phase_id bigint, "order" bigint, task_id bigint) LANGUAGE sql STABLE AS $$
    SELECT h.phase_id, h."order", t.task_id
    FROM lockstep.run r
    CROSS JOIN LATERAL (SELECT p.phase_id, p."order" FROM lockstep.phase p WHERE p.run_no = r.run_no OFFSET 0) h
    CROSS JOIN LATERAL ( -- phase by phase
        SELECT k.task_id, k.status, k.skipped, k.cancelled_by
        FROM lockstep.task k WHERE k.phase_id = h.phase_id OFFSET 0) t
    WHERE r.run_no = p_run_no
      AND (lockstep.is_failed(t.status)
           OR (t.status = 'Cancelled' AND t.skipped IS NULL
               AND (r.cancelled_at IS NOT NULL OR t.cancelled_by IS NOT NULL
                                               OR lockstep.cancelled_by_failure(p_run_no, h."order"))))
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_retried(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_retried(bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
