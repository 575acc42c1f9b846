-- Of the phases that phases_ahead counts: one that is the first closed phase of its run and has nothing unfinished, because its tasks are
-- duplicates, or an operator has ended them. Nobody has a task of it, so nobody's gate opens it. NULL: there is none.
CREATE OR REPLACE FUNCTION lockstep.phase_nobodys(p_queue_id int, p_enough int) RETURNS lockstep.phase LANGUAGE sql STABLE AS $$
    SELECT a FROM (
        SELECT p AS a FROM lockstep.phase p JOIN lockstep.run r USING (run_no)
        WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND p.opened_at IS NULL AND p."order" > COALESCE(r.parked_order, -1)
          AND r.paused_by IS NULL AND r.status <> 'Paused' AND r.cancelled_at IS NULL
        ORDER BY p.run_no, p."order" LIMIT p_enough) AS ahead
    WHERE NOT EXISTS (SELECT FROM lockstep.task t WHERE t.phase_id = (a).phase_id
                      AND t.status NOT IN ('Completed', 'Failed', 'Cancelled', 'Terminated', 'PartiallyCompleted'))
      AND NOT EXISTS (SELECT FROM lockstep.phase b WHERE b.queue_id = p_queue_id AND b.run_no = (a).run_no AND b."order" < (a)."order"
                      AND b.done_at IS NULL AND b.opened_at IS NULL)
    ORDER BY (a).run_no LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION lockstep.phase_nobodys(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.phase_nobodys(int, int) TO lockstep_executor;
