-- Every rejected message becomes a dead letter, whichever function writes the row.
CREATE OR REPLACE FUNCTION lockstep.rejected_to_outbox() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO lockstep.outbox (queue_id, kind, rejected_id)
    SELECT n.queue_id, 'rejected', n.rejected_id
    FROM new_rows n JOIN lockstep.queue q ON q.queue_id = n.queue_id
    WHERE q.dead_letters ORDER BY n.rejected_id;
    RETURN NULL;
END
$$;
