-- Retention of rows that belong to no run that still exists: rejected messages and events of the queue itself are
-- deleted when they are older than the days that are kept (the longer of the two) and older than every run that still
-- exists, ended or not. A message whose dead letter or redrive is not finished is kept. At most p_rows of each; the
-- answer is the number.
CREATE OR REPLACE FUNCTION lockstep.sweep_rest(p_queue_id int, p_rows int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    old timestamptz;
    first bigint;
    last bigint;
    messages bigint;
    runs bigint[];
    events bigint;
BEGIN
    -- Of the runs that are there the oldest is the first; LEAST and GREATEST pass NULL over. BETWEEN and ORDER BY as in
    -- sweep_next: by run_active and by run_unswept.
    SELECT LEAST(pg_catalog.clock_timestamp() - GREATEST(q.keep_days, q.keep_failed_days) * interval '1 day',
                 (SELECT r.created_at
                  FROM lockstep.run r
                  WHERE r.queue_id BETWEEN p_queue_id AND p_queue_id AND r.ended_at IS NULL
                  ORDER BY r.queue_id, r.run_no LIMIT 1),
                 (SELECT r.created_at
                  FROM lockstep.run r
                  WHERE r.queue_id::bigint BETWEEN p_queue_id AND p_queue_id AND r.ended_at IS NOT NULL AND NOT r.swept
                  ORDER BY r.queue_id::bigint, r.run_no LIMIT 1))
    INTO old
    FROM lockstep.queue q
    WHERE q.queue_id = p_queue_id AND q.halted_reason IS NULL
      AND COALESCE(q.keep_runs, q.keep_days, q.keep_failed_days) IS NOT NULL;
    WITH gone AS (
        DELETE FROM lockstep.rejected_message m
        WHERE m.rejected_id = ANY (
                  ARRAY(SELECT o.rejected_id
                        FROM lockstep.rejected_message o
                        WHERE o.queue_id = p_queue_id AND o.rejected_at < old
                          AND (o.redrive_noted IS NULL OR lockstep.redrive_made(o.queue_id, o.redrive_noted))
                          AND (SELECT x.outbox_id FROM lockstep.outbox x WHERE x.rejected_id = o.rejected_id LIMIT 1)
                              IS NULL
                          AND (SELECT r.run_no FROM lockstep.run r WHERE r.run_no = o.run_no AND NOT r.swept) IS NULL
                        ORDER BY o.rejected_at LIMIT p_rows FOR UPDATE SKIP LOCKED))
        RETURNING m.kafka_offset, m.run_no,
                  m.epoch = (SELECT q.epoch FROM lockstep.queue q WHERE q.queue_id = p_queue_id) AS of_now)
    SELECT pg_catalog.count(*), pg_catalog.min(g.kafka_offset) FILTER (WHERE g.of_now),
           pg_catalog.max(g.kafka_offset) FILTER (WHERE g.of_now),
           pg_catalog.array_agg(DISTINCT g.run_no) FILTER (WHERE g.run_no IS NOT NULL)
    INTO messages, first, last, runs FROM gone g;
    PERFORM lockstep.sweep_rejected(p_queue_id, first, last);
    DELETE FROM lockstep.event_log l
    WHERE l.event_id = ANY (
              ARRAY(SELECT o.event_id
                    FROM lockstep.event_log o
                    WHERE o.queue_id = p_queue_id AND o.run_no IS NULL AND o.at < old ORDER BY o.at LIMIT p_rows)
              -- of runs that are swept
              || ARRAY(SELECT o.event_id FROM lockstep.event_log o WHERE o.run_no = ANY (runs) LIMIT p_rows));
    GET DIAGNOSTICS events = ROW_COUNT;
    RETURN messages + events;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep_rest(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep_rest(int, int) TO lockstep_executor;
