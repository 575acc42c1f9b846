-- Retention of what belongs to no run that is kept: rejected messages and the events of the queue itself, by age (the longer of the two
-- settings). Not a message whose dead letter or whose redrive is under way, nor one that a run that has not ended may account for.
-- At most p_rows of each; how many.
CREATE OR REPLACE FUNCTION lockstep.sweep_rest(p_queue_id int, p_rows int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    old timestamptz;
    messages bigint;
    events bigint;
BEGIN
    SELECT pg_catalog.clock_timestamp() - GREATEST(q.keep_days, q.keep_failed_days) * interval '1 day' INTO STRICT old
    FROM lockstep.queue q WHERE q.queue_id = p_queue_id;
    IF old IS NULL OR NOT pg_catalog.pg_try_advisory_xact_lock(lockstep.lock_class('sweep'), p_queue_id) THEN
        RETURN 0;
    END IF;
    DELETE FROM lockstep.rejected_message m WHERE m.rejected_id = ANY (ARRAY(
        SELECT o.rejected_id FROM (SELECT b.* FROM lockstep.rejected_message b WHERE b.queue_id = p_queue_id ORDER BY b.kafka_offset LIMIT p_rows) AS o
        WHERE o.rejected_at < old AND (o.redrive_run IS NULL OR o.redriven_at IS NOT NULL)
          AND NOT EXISTS (SELECT FROM lockstep.outbox x WHERE x.queue_id = p_queue_id AND x.kind = 'rejected' AND x.rejected_id = o.rejected_id)
          AND NOT EXISTS (SELECT FROM lockstep.run r WHERE r.queue_id = p_queue_id AND r.ended_at IS NULL
                          AND (r.run_no = o.run_no OR (o.run_no IS NULL AND r.first_offset <= o.kafka_offset)))));
    GET DIAGNOSTICS messages = ROW_COUNT;
    DELETE FROM lockstep.event_log l WHERE l.event_id = ANY (ARRAY(
        SELECT o.event_id FROM (SELECT b.event_id, b.at FROM lockstep.event_log b WHERE b.queue_id = p_queue_id AND b.run_no IS NULL
                                ORDER BY b.event_id LIMIT p_rows) AS o
        WHERE o.at < old));
    GET DIAGNOSTICS events = ROW_COUNT;
    RETURN messages + events;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep_rest(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep_rest(int, int) TO lockstep_executor;
