-- Whether run retry takes this run: it has ended or is paused, its tasks are kept, and some of them are to be tried
-- again, or all that failed was declared done and nothing else of it is missing.
CREATE OR REPLACE FUNCTION lockstep.run_retryable(p_run_no bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT r.swept AND (r.ended_at IS NOT NULL OR (r.status = 'Paused' AND r.cancelled_at IS NULL))
           AND (EXISTS (SELECT FROM lockstep.run_retried(p_run_no))
                OR (r.status IN ('Failed', 'PartiallyCompleted') AND r.last_phase_id IS NOT NULL AND r.rejected = 0
                    AND CASE WHEN r.cancelled_at IS NULL THEN r.stop_after ELSE r.stop_kept END IS DISTINCT FROM 0))
    FROM lockstep.run r WHERE r.run_no = p_run_no
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_retryable(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_retryable(bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
