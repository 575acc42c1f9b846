-- Settles redrives of a queue (of one run, or of all) that are noted: if the run is on the topic, it becomes the
-- redrive of its messages; if none of its messages is and never will be, only the note is removed. A run whose
-- producer ended without a notice is settled by the next producer, so a caller that asks about all of them holds the
-- producers' lock and has taken over.
CREATE OR REPLACE FUNCTION lockstep.redrive_settle(p_queue_id int, p_run uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH outcome AS (
        SELECT m.rejected_id, (r.published_at IS NOT NULL OR r.first_offset IS NOT NULL) IS TRUE AS published
        FROM lockstep.rejected_message m
        LEFT JOIN lockstep.run r ON r.queue_id = m.queue_id AND r.run_id = m.redrive_noted
        WHERE m.redrive_noted IS NOT NULL AND m.queue_id = p_queue_id
          AND (p_run IS NULL OR m.redrive_noted = p_run)
          AND (r.run_no IS NULL OR r.published_at IS NOT NULL OR r.first_offset IS NOT NULL OR r.status = 'Cancelled'))
    UPDATE lockstep.rejected_message m
    SET redriven_at = CASE WHEN o.published THEN clock_timestamp() ELSE m.redriven_at END,
        redrive_run = CASE WHEN o.published THEN m.redrive_noted ELSE m.redrive_run END,
        redriven_by = CASE WHEN o.published THEN m.redrive_noted_by ELSE m.redriven_by END,
        redrive_noted = NULL, redrive_noted_by = NULL
    FROM outcome o WHERE m.rejected_id = o.rejected_id
$$;
REVOKE EXECUTE ON FUNCTION lockstep.redrive_settle(int, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.redrive_settle(int, uuid) TO lockstep_producer;
