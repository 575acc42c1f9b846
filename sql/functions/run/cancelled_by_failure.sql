-- Were cancelled tasks of this order cancelled because a task before them failed? Not by an operator, and not because
-- messages of the run are missing or its producer gave up (stop_after 0). A reopening has kept what it took back in
-- stop_lifted.
CREATE OR REPLACE FUNCTION lockstep.cancelled_by_failure(p_run_no bigint, p_order bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT r.status <> 'Cancelled' AND r.stop_after IS DISTINCT FROM 0
       AND COALESCE(p_order > COALESCE(r.stop_after, r.stop_lifted), false)
    FROM lockstep.run r WHERE r.run_no = p_run_no
$$;
REVOKE EXECUTE ON FUNCTION lockstep.cancelled_by_failure(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.cancelled_by_failure(bigint, bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
