-- A schedule that follows a job has decided an end: the next one that waits is its next time. The caller has locked the
-- schedule's row, as the end of a run does.
CREATE OR REPLACE FUNCTION lockstep.job_end_next(p_schedule_id int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH next AS (
        DELETE FROM lockstep.job_end e
        WHERE e.job_end_id = (SELECT pg_catalog.min(b.job_end_id)
                              FROM lockstep.job_end b WHERE b.schedule_id = p_schedule_id)
          AND EXISTS (SELECT FROM lockstep.schedule s WHERE s.schedule_id = p_schedule_id AND s.next_at IS NULL)
        RETURNING e.scheduled_for, e.due_at)
    UPDATE lockstep.schedule s SET next_at = n.scheduled_for, due_at = n.due_at, wake_at = LEAST(s.wake_at, n.due_at)
    FROM next n WHERE s.schedule_id = p_schedule_id;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_end_next(int) FROM PUBLIC;
