-- The run for whose end a phase of a serial queue waits after its reopening: the newest run before its own that has not
-- ended. NULL: none. A run that had ended waits, and so does a run that was reopened already and waits with a later
-- phase. A run that has begun does not wait. See reopen.
CREATE OR REPLACE FUNCTION lockstep.reopen_before(p_run_no bigint, p_order bigint) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT b.run_no
    FROM lockstep.run r JOIN lockstep.run b USING (queue_id)
    WHERE r.run_no = p_run_no AND b.ended_at IS NULL AND b.first_offset < r.first_offset
      AND (r.ended_at IS NOT NULL
           OR (SELECT pg_catalog.bool_or(p.after_runs AND p."order" > p_order)
                      AND pg_catalog.bool_and(p.opened_at IS NULL)
               FROM lockstep.phase p WHERE p.run_no + 0 = p_run_no AND p.done_at IS NULL))
    ORDER BY b.first_offset DESC LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION lockstep.reopen_before(bigint, bigint) FROM PUBLIC;
