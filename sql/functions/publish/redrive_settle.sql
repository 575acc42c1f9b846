-- Settles redrives of a queue (of one run, or of all) that are noted: if the run is on the topic, it becomes the
-- redrive of its messages; if none of its messages is and never will be, only the note is removed, but not if
-- p_unmade is false. A run whose producer ended without a notice is settled by the next producer, so a caller that
-- removes the notes of others holds the producers' lock and has taken over.
CREATE OR REPLACE FUNCTION lockstep.redrive_settle(p_queue_id int, p_run uuid, p_unmade boolean DEFAULT true)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH outcome AS (
        SELECT m.rejected_id, lockstep.redrive_made(m.queue_id, m.redrive_noted) AS made,
               lockstep.redrive_unmade(m.queue_id, m.redrive_noted) AS is_unmade
        FROM lockstep.rejected_message m
        WHERE m.redrive_noted IS NOT NULL AND m.queue_id = p_queue_id
          AND (p_run IS NULL OR m.redrive_noted = p_run))
    UPDATE lockstep.rejected_message m
    SET redriven_at = CASE WHEN o.made THEN lockstep.redrive_at(m.queue_id, m.redrive_noted) ELSE m.redriven_at END,
        redrive_run = CASE WHEN o.made THEN m.redrive_noted ELSE m.redrive_run END,
        redriven_by = CASE WHEN o.made THEN m.redrive_noted_by ELSE m.redriven_by END,
        redrive_noted = NULL, redrive_noted_by = NULL
    FROM outcome o WHERE m.rejected_id = o.rejected_id AND (o.made OR o.is_unmade AND p_unmade)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.redrive_settle(int, uuid, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.redrive_settle(int, uuid, boolean) TO lockstep_producer;
