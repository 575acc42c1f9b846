-- Of the phases that phases_ahead counts: one that is the first closed phase of its run and has nothing unfinished, because its tasks are
-- duplicates, or an operator has ended them. Nobody has a task of it, so nobody's gate opens it. Not the first one of a run that waits for
-- another run. NULL: there is none.
CREATE OR REPLACE FUNCTION lockstep.phase_nobodys(p_queue_id int, p_enough int) RETURNS lockstep.phase LANGUAGE sql STABLE AS $$
    SELECT a FROM (
        SELECT p AS a, r.parked_order, r.first_offset FROM lockstep.phase p JOIN lockstep.run r USING (run_no)
        WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND p.opened_at IS NULL AND p."order" > COALESCE(r.parked_order, -1)
          AND r.paused_by IS NULL AND r.status <> 'Paused' AND r.cancelled_at IS NULL
        ORDER BY p.run_no, p."order" LIMIT p_enough) AS ahead
    WHERE (SELECT b.phase_id FROM lockstep.phase b
           WHERE b.queue_id = p_queue_id AND b.run_no = (a).run_no AND b."order" < (a)."order" AND b."order" > COALESCE(parked_order, -1)
             AND b.done_at IS NULL AND b.opened_at IS NULL LIMIT 1) IS NULL
      AND ((a).previous_phase_id IS NOT NULL OR NOT EXISTS (
          SELECT FROM lockstep.run b WHERE b.queue_id = p_queue_id AND b.ended_at IS NULL AND b.first_offset < ahead.first_offset))
      AND (SELECT t.task_id FROM lockstep.task t WHERE t.phase_id = (a).phase_id -- not EXISTS, which may read the whole table
           AND t.status NOT IN ('Completed', 'Failed', 'Cancelled', 'Terminated', 'PartiallyCompleted') LIMIT 1) IS NULL
    ORDER BY (a).run_no LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION lockstep.phase_nobodys(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.phase_nobodys(int, int) TO lockstep_executor;
