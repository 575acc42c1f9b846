-- Whether the run that was noted for a redrive is not on the topic, and never will be: it has no row, or it is
-- Cancelled; false without a note. The caller holds the producers' lock: without it, the producer may be about to write
-- the row.
CREATE OR REPLACE FUNCTION lockstep.redrive_unmade(p_queue_id int, p_run uuid) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN p_run IS NOT NULL AND NOT lockstep.redrive_made(p_queue_id, p_run)
       AND NOT EXISTS (SELECT FROM lockstep.run r
                       WHERE r.queue_id = p_queue_id AND r.run_id = p_run AND r.status <> 'Cancelled');
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.redrive_unmade(int, uuid) FROM PUBLIC;
