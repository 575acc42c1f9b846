-- A run whose tasks are deleted: its events, its rejected messages, and when few enough were left, its phases. At most
-- p_rows of each at a time. How many.
CREATE OR REPLACE FUNCTION lockstep.sweep_end(p_run_no bigint, p_rows int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    events bigint;
    messages bigint;
    first bigint;
    last bigint;
    phases bigint := 0;
BEGIN
    DELETE FROM lockstep.event_log l WHERE l.event_id = ANY (ARRAY(
        SELECT o.event_id FROM lockstep.event_log o WHERE o.run_no = p_run_no ORDER BY o.event_id LIMIT p_rows));
    GET DIAGNOSTICS events = ROW_COUNT;
    -- One that came while the run is being deleted (a duplicate) goes by age, if its dead letter is not written yet.
    WITH gone AS (
        DELETE FROM lockstep.rejected_message m
        WHERE m.rejected_id = ANY (ARRAY(
                  SELECT o.rejected_id FROM lockstep.rejected_message o
                  WHERE o.run_no = p_run_no
                    AND (o.redrive_noted IS NULL OR lockstep.redrive_made(o.queue_id, o.redrive_noted))
                    AND NOT EXISTS (SELECT FROM lockstep.outbox x WHERE x.rejected_id = o.rejected_id)
                  ORDER BY o.rejected_id LIMIT p_rows FOR UPDATE SKIP LOCKED))
        RETURNING m.kafka_offset,
                  m.epoch = (SELECT q.epoch FROM lockstep.queue q WHERE q.queue_id = m.queue_id) AS of_now)
    SELECT pg_catalog.count(*), pg_catalog.min(g.kafka_offset) FILTER (WHERE g.of_now),
           pg_catalog.max(g.kafka_offset) FILTER (WHERE g.of_now)
    INTO messages, first, last FROM gone g;
    PERFORM lockstep.sweep_rejected((SELECT r.queue_id FROM lockstep.run r WHERE r.run_no = p_run_no), first, last);
    IF events < p_rows AND messages < p_rows THEN
        DELETE FROM lockstep.phase p WHERE p.phase_id = ANY (ARRAY(
            SELECT o.phase_id FROM lockstep.phase o WHERE o.run_no = p_run_no ORDER BY o."order" LIMIT p_rows));
        GET DIAGNOSTICS phases = ROW_COUNT;
        IF phases < p_rows THEN
            UPDATE lockstep.run_summary SET swept_at = pg_catalog.clock_timestamp() WHERE run_no = p_run_no;
        END IF;
    END IF;
    RETURN events + messages + phases;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep_end(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep_end(bigint, int) TO lockstep_executor;
