-- What holds up a whole queue: see explain.
CREATE OR REPLACE FUNCTION lockstep.explain_queue(p_queue_id int) RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    q record;
    about text;
    n text[];
    now timestamptz := pg_catalog.clock_timestamp();
    e record;
    long record;
    living int;
    count bigint;
BEGIN
    SELECT * INTO STRICT q FROM lockstep.queue b WHERE b.queue_id = p_queue_id;
    about := 'queue ' || q.name;
    n := ARRAY['QUEUE', q.name];
    IF q.halted_reason IS NOT NULL THEN
        RETURN NEXT lockstep.explain_row('queue_halted', pg_catalog.format('%s is halted (%s): %s', about, q.halted_reason, q.halted_detail), about, q.halted_at, n);
    END IF;
    IF q.paused THEN
        RETURN NEXT lockstep.explain_row('queue_paused', pg_catalog.format('%s is paused by %s%s', about, q.paused_by,
            (SELECT ': ' || l.detail FROM lockstep.event_log l WHERE l.queue_id = p_queue_id AND l.event = 'queue_paused' ORDER BY l.event_id DESC LIMIT 1)),
            about, q.paused_at, n);
    END IF;

    SELECT pg_catalog.count(*) AS living, pg_catalog.count(*) FILTER (WHERE x.drain_by IS NULL) AS staying,
           pg_catalog.count(*) FILTER (WHERE x.drain_by IS NULL AND COALESCE(x.readers_limit, x.readers) > 0) AS working,
           pg_catalog.min(x.executor_id::text) AS one INTO e
    FROM (SELECT b.* FROM lockstep.executor b WHERE b.ended_at IS NULL AND q.name = ANY (b.queues) OFFSET 0) AS x
    WHERE lockstep.executor_lives(x.executor_no);
    IF e.living = 0 THEN
        RETURN NEXT lockstep.explain_row('no_executor', 'no executor works for ' || about || COALESCE((
            SELECT pg_catalog.format('; the last one was %s on %s (pid %s)', b.executor_id, b.host, b.pid) FROM lockstep.executor b
            WHERE q.name = ANY (b.queues) ORDER BY b.executor_no DESC LIMIT 1), '; there never was one'), about,
            (SELECT COALESCE(b.ended_at, b.heartbeat_at) FROM lockstep.executor b WHERE q.name = ANY (b.queues) ORDER BY b.executor_no DESC LIMIT 1), n);
    ELSIF e.staying = 0 THEN
        RETURN NEXT lockstep.explain_row('executors_drain', pg_catalog.format('all executors of %s (%s) are draining for an operator', about, e.living), about,
            (SELECT pg_catalog.max(b.drain_at) FROM lockstep.executor b WHERE b.ended_at IS NULL AND q.name = ANY (b.queues)), n);
    ELSIF e.working = 0 THEN
        RETURN NEXT lockstep.explain_row('executors_without_readers', pg_catalog.format('all executors of %s (%s) have been told to use 0 readers', about, e.staying), about,
            NULL, n || ARRAY['EXECUTOR', e.one]);
    END IF;
    RETURN QUERY
    SELECT (lockstep.explain_row('executor_silent', pg_catalog.format('executor %s on %s (pid %s) holds its locks and has not stirred for %s', b.executor_id, b.host,
        b.pid, lockstep.explain_words(now - b.heartbeat_at)), about, b.heartbeat_at, n || ARRAY['EXECUTOR', b.executor_id::text])).*
    FROM (SELECT x.* FROM lockstep.executor x WHERE x.ended_at IS NULL AND q.name = ANY (x.queues) AND x.heartbeat_at < now - interval '12 s' OFFSET 0) AS b
    WHERE lockstep.executor_lives(b.executor_no);

    IF q.blocked_offset IS NOT NULL THEN
        RETURN NEXT lockstep.explain_row('blocked_by_transaction', pg_catalog.format('an open Kafka transaction holds back what lies on topic %s from offset %s on, for %s',
            q.topic, q.blocked_offset, lockstep.explain_words(now - q.blocked_at)), about, q.blocked_at, n);
    END IF;
    SELECT COALESCE(pg_catalog.sum(r.in_use), 0) INTO living FROM lockstep.reader_status r WHERE r.queue = q.name;
    SELECT t.task_id, t.name, t."order", t.started_at, x.host INTO long
    FROM lockstep.phase p JOIN lockstep.task t USING (phase_id) LEFT JOIN lockstep.executor x ON x.executor_no = t.executor_no
    WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND t.status = 'Processing' AND t.type <> 'external' ORDER BY t.started_at LIMIT 1;
    IF q.max_readers = 0 THEN
        RETURN NEXT lockstep.explain_row('no_readers', about || ' may use no reader: its bound is 0', about, q.updated_at, n);
    ELSIF living >= q.max_readers THEN
        RETURN NEXT lockstep.explain_row('readers_busy', pg_catalog.format('no reader of %s is free: %s of %s are in use%s', about, living, q.max_readers,
            CASE WHEN long.task_id IS NOT NULL THEN pg_catalog.format('; the longest at work is task %s of order %s on %s, for %s', pg_catalog.concat_ws(' ', long.task_id, '"' || long.name || '"'), long."order", long.host,
                              lockstep.explain_words(now - long.started_at)) END), about, long.started_at, n);
    END IF;
    RETURN QUERY
    SELECT (lockstep.explain_row('slots_kept', pg_catalog.format('slot %s of %s is kept until backend %s of a dead executor has ended', s.slot_no, about, s.pid), about,
                                 s.taken_at, n || ARRAY['PID', s.pid::text])).*
    FROM (SELECT b.* FROM lockstep.slot b WHERE b.queue_id = p_queue_id AND b.slot_no <= q.max_readers AND b.pid IS NOT NULL OFFSET 0) AS s
    WHERE NOT lockstep.executor_lives(s.executor_no) AND lockstep.slot_backend_lives(s.pid, s.backend_start);
    count := lockstep.phases_ahead(p_queue_id, q.lookahead);
    IF count >= q.lookahead THEN
        RETURN NEXT lockstep.explain_row('lookahead', pg_catalog.format('%s phases of %s are claimed and wait to be opened: no more are claimed until the next one opens',
            count, about), about, NULL, n);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_queue(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_queue(int) TO lockstep_executor, lockstep_operator, lockstep_monitor;
