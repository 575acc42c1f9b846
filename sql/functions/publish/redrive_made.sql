-- Whether the run that was noted for a redrive is on the topic, also if its producer ended before it could say so;
-- false without a note. Such a run is one Kafka transaction (producer/options.h: books), so all of its messages are
-- there or none. It is PL/pgSQL, because SQL would be planned at each call.
CREATE OR REPLACE FUNCTION lockstep.redrive_made(p_queue_id int, p_run uuid) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN EXISTS (SELECT FROM lockstep.run r
                   WHERE r.queue_id = p_queue_id AND r.run_id = p_run
                     AND (r.published_at IS NOT NULL OR r.first_offset IS NOT NULL));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.redrive_made(int, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.redrive_made(int, uuid)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
