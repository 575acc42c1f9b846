-- The reasons for which no reader is free for a queue, for explain: its bound is 0, the bound is reached, or all
-- readers of its executors are at work, for this queue or another one. More readers help only where both leave room, so
-- the remedy names the one that is short.
CREATE OR REPLACE FUNCTION lockstep.explain_readers(p_queue_id int) RETURNS SETOF lockstep.explanation
LANGUAGE plpgsql AS $$
DECLARE
    queue_row record;
    about text;
    names text[];
    busy int;
    own record;
    limited record;
    reason text;
    head text; -- of the sentence, before the tasks that run
    tail text;
BEGIN
    SELECT b.name, b.max_readers, b.next_offset, b.updated_at, b.lookahead, b.runs,
           b.paused OR b.halted_reason IS NOT NULL AS is_stopped INTO STRICT queue_row
    FROM lockstep.queue b WHERE b.queue_id = p_queue_id;
    about := 'queue ' || queue_row.name;
    names := ARRAY['QUEUE', queue_row.name];
    IF queue_row.max_readers = 0 THEN
        RETURN NEXT lockstep.explain_row(
            'no_readers',
            pg_catalog.format('%s may use no reader: its bound is 0%s', about,
                              (SELECT pg_catalog.format(', set by %s', l.actor)
                               FROM lockstep.event_log l
                               WHERE l.queue_id = p_queue_id AND l.event IN ('queue_changed', 'queue_created')
                                 AND l.detail ~ '\mmax_readers 0\M'
                               ORDER BY l.event_id DESC LIMIT 1)),
            about, queue_row.updated_at, names);
        RETURN;
    END IF;
    SELECT COALESCE(pg_catalog.sum(r.in_use), 0) INTO busy
    FROM lockstep.reader_status r WHERE r.queue = queue_row.name;
    -- An executor shares its readers among its queues. One that drains, or is held, takes no task.
    SELECT pg_catalog.sum(e.readers) AS readers, pg_catalog.sum(e.in_use) AS in_use,
           pg_catalog.sum(GREATEST(e.readers - e.in_use, 0)) AS free
    INTO own
    FROM (SELECT x.executor_no, COALESCE(x.readers_limit, x.readers) AS readers,
                 (SELECT pg_catalog.sum(r.in_use)
                  FROM lockstep.reader_status r WHERE r.executor_no = x.executor_no) AS in_use
          FROM lockstep.executor x
          WHERE x.ended_at IS NULL AND x.drain_by IS NULL AND x.signalled IS NULL
            AND queue_row.name = ANY (x.queues) OFFSET 0) AS e
    WHERE lockstep.executor_lives(e.executor_no);
    IF busy >= queue_row.max_readers THEN
        -- more executors do not help where the bound cannot be raised
        reason := CASE WHEN own.free = 0 AND queue_row.max_readers < 1000 THEN 'readers_spent' ELSE 'readers_busy' END;
        head := pg_catalog.format('no reader of %s is free: %s of %s are in use', about, busy, queue_row.max_readers);
        tail := CASE WHEN own.free = 0 THEN '; its executors have no more either' END;
    -- An executor claims hardly more than its readers can take, so most tasks that wait are still on the topic. Their
    -- order is not known here. Where something else stops them, that is the reason.
    ELSIF own.free = 0 AND own.readers > 0 AND NOT queue_row.is_stopped
          AND NOT EXISTS (SELECT FROM lockstep.run r
                          WHERE r.queue_id = p_queue_id AND r.ended_at IS NULL AND r.paused_by IS NOT NULL
                            AND (r.implicit OR queue_row.runs = 'serial'))
          AND lockstep.phases_ahead(p_queue_id, queue_row.lookahead) < queue_row.lookahead
          AND (queue_row.next_offset < (SELECT pg_catalog.max(r.topic_end)
                                        FROM lockstep.reader_status r WHERE r.queue = queue_row.name)
               OR EXISTS (SELECT FROM lockstep.phase p
                          CROSS JOIN LATERAL (SELECT k.status, k.type, k.scheduled_for
                                              FROM lockstep.task k
                                              WHERE k.phase_id = p.phase_id
                                              ORDER BY k.kafka_offset DESC LIMIT 1000) AS t -- those that begin last
                          WHERE p.queue_id = p_queue_id AND p.opened_at IS NOT NULL AND p.done_at IS NULL
                            AND lockstep.is_processable(t.status) AND t.type <> 'external'
                            AND COALESCE(t.scheduled_for <= pg_catalog.clock_timestamp(), true))) THEN
        SELECT x.executor_id, x.readers_limit, x.readers INTO limited
        FROM (SELECT b.* FROM lockstep.executor b
              WHERE b.ended_at IS NULL AND b.drain_by IS NULL AND b.signalled IS NULL
                AND queue_row.name = ANY (b.queues) AND b.readers_limit < b.readers OFFSET 0) AS x
        WHERE lockstep.executor_lives(x.executor_no) ORDER BY x.readers - x.readers_limit DESC LIMIT 1;
        reason := CASE WHEN limited.executor_id IS NULL THEN 'executors_busy' ELSE 'executors_limited' END;
        head := pg_catalog.format('all readers of the executors of %s (%s) are at work%s', about, own.readers,
                                  CASE WHEN own.in_use > busy THEN pg_catalog.format(', %s of them for other queues',
                                                                                     own.in_use - busy) END);
        tail := pg_catalog.format('; its bound of %s is not reached%s', queue_row.max_readers,
                                  CASE WHEN limited.executor_id IS NOT NULL THEN pg_catalog.format(
                                           ', and executor %s is set to use %s of its %s', limited.executor_id,
                                           limited.readers_limit, limited.readers) END);
        names := names || ARRAY['EXECUTOR', limited.executor_id::text, 'READERS', limited.readers::text];
    ELSE
        RETURN;
    END IF;
    RETURN QUERY
    SELECT e.*
    FROM lockstep.explain_busiest(p_queue_id) AS long
    CROSS JOIN LATERAL lockstep.explain_row(reason, pg_catalog.concat(head, long.sentence, tail), about, long.since,
                                            names) AS e;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_readers(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_readers(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
