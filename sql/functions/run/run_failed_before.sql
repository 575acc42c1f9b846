-- Has anything of the run failed for good before this order? A task that failed or that an operator cancelled, or a
-- message that was rejected. Decides over tasks whose condition is failure.
CREATE OR REPLACE FUNCTION lockstep.run_failed_before(p_run_no bigint, p_order bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    -- every failure writes the error
    SELECT CASE WHEN r.error IS NULL AND r.rejected = 0 AND r.reopened_at IS NULL THEN false
                ELSE r.rejected > 0
                     OR EXISTS (SELECT FROM lockstep.phase p
                                CROSS JOIN LATERAL ( -- as in run_finish
                                    SELECT FROM lockstep.task t
                                    WHERE t.phase_id = p.phase_id
                                      AND (lockstep.is_failed(t.status)
                                           OR (t.status = 'Cancelled' AND t.cancelled_by IS NOT NULL))
                                    LIMIT 1) t
                                WHERE p.run_no = p_run_no AND p."order" < p_order) END
    FROM lockstep.run r WHERE r.run_no = p_run_no
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_failed_before(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_failed_before(bigint, bigint) TO lockstep_executor;
