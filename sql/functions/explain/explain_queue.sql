-- The reasons that hold up a whole queue, for explain.
CREATE OR REPLACE FUNCTION lockstep.explain_queue(p_queue_id int) RETURNS SETOF lockstep.explanation
LANGUAGE plpgsql AS $$
DECLARE
    queue_row record;
    about text;
    names text[];
    now timestamptz := pg_catalog.clock_timestamp();
    long record;
    busy int;
    count bigint;
BEGIN
    SELECT * INTO STRICT queue_row FROM lockstep.queue b WHERE b.queue_id = p_queue_id;
    about := 'queue ' || queue_row.name;
    names := ARRAY['QUEUE', queue_row.name];
    RETURN QUERY SELECT * FROM lockstep.explain_stopped(p_queue_id);
    IF NOT lockstep.explain_blind() THEN
        RETURN QUERY SELECT * FROM lockstep.explain_locks(p_queue_id);
        RETURN QUERY SELECT * FROM lockstep.explain_held(p_queue_id);
    END IF;

    IF queue_row.blocked_offset IS NOT NULL THEN
        RETURN NEXT lockstep.explain_transaction(p_queue_id, queue_row.blocked_offset, queue_row.blocked_at);
    END IF;
    SELECT COALESCE(pg_catalog.sum(r.in_use), 0) INTO busy FROM lockstep.reader_status r WHERE r.queue = queue_row.name;
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
    ELSIF busy >= queue_row.max_readers THEN
        WITH w AS MATERIALIZED ( -- the tasks that run, read once
            SELECT t.task_id, t.name, t."order", t.started_at, t.executor_no, t.run_no
            FROM lockstep.phase p JOIN lockstep.task t USING (phase_id)
            WHERE p.queue_id = p_queue_id AND p.opened_at IS NOT NULL AND p.done_at IS NULL AND t.status = 'Processing'
              AND t.type <> 'external')
        SELECT l.*, x.host,
               (SELECT pg_catalog.string_agg(pg_catalog.format(
                                                 '%s by run %s', h.count,
                                                 pg_catalog.concat_ws(' ', h.run_id, '"' || h.name || '"')),
                                             ', ' ORDER BY h.count DESC)
                FROM (SELECT r.run_id, r.name, pg_catalog.count(*)
                      FROM w JOIN lockstep.run r USING (run_no)
                      GROUP BY r.run_no, r.run_id, r.name ORDER BY 3 DESC LIMIT 3) AS h) AS holders
        INTO long
        FROM (SELECT * FROM w ORDER BY w.started_at LIMIT 1) AS l LEFT JOIN lockstep.executor x USING (executor_no);
        RETURN NEXT lockstep.explain_row(
            'readers_busy',
            pg_catalog.format('no reader of %s is free: %s of %s are in use%s%s', about, busy, queue_row.max_readers,
                              ' (' || long.holders || ')',
                              CASE WHEN long.task_id IS NOT NULL THEN pg_catalog.format(
                                       '; the longest at work is task %s of order %s on %s, for %s',
                                       pg_catalog.concat_ws(' ', long.task_id, '"' || long.name || '"'), long."order",
                                       long.host, lockstep.explain_words(now - long.started_at)) END),
            about, long.started_at, names);
    END IF;
    RETURN QUERY
    SELECT e.*
    FROM (SELECT b.*
          FROM lockstep.slot b
          WHERE b.queue_id = p_queue_id AND b.slot_no <= queue_row.max_readers AND b.pid IS NOT NULL OFFSET 0) AS s
    CROSS JOIN LATERAL lockstep.explain_row(
        'slots_kept',
        pg_catalog.format('slot %s of %s is kept until backend %s of a dead executor has ended', s.slot_no, about,
                          s.pid),
        about, s.taken_at, names || ARRAY['PID', s.pid::text]) AS e
    WHERE NOT lockstep.explain_blind() AND NOT lockstep.executor_lives(s.executor_no)
      AND lockstep.slot_backend_lives(s.pid, s.backend_start);
    count := lockstep.phases_ahead(p_queue_id, queue_row.lookahead);
    IF count >= queue_row.lookahead THEN
        RETURN NEXT lockstep.explain_row('lookahead',
                                         pg_catalog.format('the lookahead of %s is used up: %s claimed and not opened; '
                                                           'no more are claimed until the next one opens',
                                                           about, lockstep.counted(count, 'phase')),
                                         about, NULL, names);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_queue(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_queue(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
