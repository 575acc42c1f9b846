-- Why the end of a run has not come: one of lockstep.wait_reason, and the rest of a sentence. See explain.
CREATE OR REPLACE FUNCTION lockstep.explain_end(p_run_no bigint, OUT reason text, OUT why text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    run_row record;
    producer record;
BEGIN
    SELECT x.implicit, x.published_at, x.publish_acked_seq, x.publish_acked_offset, x.created_at, x.first_offset,
           q.next_offset,
           EXISTS (SELECT FROM lockstep.rejected_message m -- by rejected_redrive
                   WHERE m.redrive_noted = x.run_id AND m.queue_id + 0 = x.queue_id)
           OR EXISTS (SELECT FROM lockstep.rejected_message m -- by rejected_redriven
                      WHERE m.redrive_run = x.run_id AND m.queue_id + 0 = x.queue_id) AS redrive
    INTO STRICT run_row
    FROM lockstep.run x JOIN lockstep.queue q USING (queue_id) WHERE x.run_no = p_run_no;
    SELECT p.pid, p.usename, s.is INTO producer
    FROM lockstep.run_producer(p_run_no) AS p LEFT JOIN LATERAL lockstep.explain_session(p.pid) AS s ON true;
    IF run_row.implicit THEN
        reason := 'run_end_missing';
        why := 'its messages name no run, so it ends with a message of previous_order 0, with an end message or by an '
               'operator';
    ELSIF producer.pid IS NOT NULL THEN
        reason := 'run_publishing';
        why := pg_catalog.format('its producer is at work (backend %s: %s)', producer.pid, producer.is);
    ELSIF run_row.published_at IS NULL AND run_row.publish_acked_seq IS NOT NULL AND run_row.redrive THEN
        -- publish --resume cannot read its source again. It is on the topic whole or not at all (redrive_made).
        reason := CASE WHEN run_row.first_offset IS NULL THEN 'run_abandoned_redrive' ELSE 'run_end_missing' END;
        why := 'the redrive that published it is gone and has not finished';
    ELSIF run_row.published_at IS NULL AND run_row.publish_acked_seq IS NOT NULL THEN
        reason := 'run_abandoned';
        why := 'its producer is gone and has not finished';
    ELSIF run_row.published_at IS NULL THEN
        reason := 'run_end_missing';
        why := 'its producer is none of lockstep publish and has sent none';
    ELSIF run_row.publish_acked_offset < run_row.next_offset THEN
        reason := CASE WHEN run_row.first_offset IS NULL THEN 'run_records_gone' ELSE 'run_end_missing' END;
        why := pg_catalog.format('it was published up to offset %s, the queue''s cursor was set behind that',
                                 run_row.publish_acked_offset);
    ELSE
        reason := 'run_end_unclaimed';
        why := 'it is on the topic and not claimed yet';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_end(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_end(bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
