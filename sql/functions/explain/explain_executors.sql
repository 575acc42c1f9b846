-- The reasons for which the executors of a queue hold it up, for explain: none lives, all drain, are held or have no
-- reader, one is silent, cannot reach Kafka or read the topic, has set the queue aside, or has sessions for only some
-- of its readers.
CREATE OR REPLACE FUNCTION lockstep.explain_executors(p_queue_id int) RETURNS SETOF lockstep.explanation
LANGUAGE plpgsql AS $$
DECLARE
    queue_row record;
    about text;
    names text[];
    executor_row record;
    last record;
    now timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT b.name INTO STRICT queue_row FROM lockstep.queue b WHERE b.queue_id = p_queue_id;
    about := 'queue ' || queue_row.name;
    names := ARRAY['QUEUE', queue_row.name];
    SELECT pg_catalog.count(*) AS living, pg_catalog.count(*) FILTER (WHERE x.stays) AS staying,
           pg_catalog.count(*) FILTER (WHERE x.stays AND x.has_readers AND x.signalled IS NULL) AS working,
           pg_catalog.array_agg(x.executor_no) FILTER (WHERE x.stays AND x.has_readers) AS held,
           pg_catalog.min(x.executor_id::text) FILTER (WHERE x.stays) AS one,
           pg_catalog.array_agg(x.executor_no) FILTER (WHERE x.stays) AS nos,
           pg_catalog.min(x.drain_by) AS drain_by INTO executor_row
    FROM (SELECT b.*, b.drain_by IS NULL AND b.signalled IS DISTINCT FROM 'draining' AS stays,
                 COALESCE(b.readers_limit, b.readers) > 0 AS has_readers
          FROM lockstep.executor b WHERE b.ended_at IS NULL AND queue_row.name = ANY (b.queues) OFFSET 0) AS x
    WHERE lockstep.executor_lives(x.executor_no);
    IF executor_row.living = 0 THEN
        SELECT b.* INTO last
        FROM lockstep.executor b WHERE queue_row.name = ANY (b.queues)
        ORDER BY COALESCE(b.ended_at, b.heartbeat_at) DESC, b.executor_no DESC LIMIT 1;
        -- The process lives and pauses for at most a minute. Its note about this queue comes below.
        IF last.ended_why = 'lost' AND last.ended_at > now - interval '2 minutes' AND last.ended_error <> '' THEN
            IF NOT EXISTS (SELECT FROM lockstep.executor_aside a
                           WHERE a.queue_id = p_queue_id AND a.executor_no = last.executor_no
                             AND a.failed_at > now - interval '2 minutes') THEN
                RETURN NEXT lockstep.explain_aside(last.executor_no, 'failed and starts again: ' || last.ended_error,
                                                   about, last.ended_at, names);
            END IF;
        ELSE
            RETURN NEXT lockstep.explain_row('no_executor', pg_catalog.format('no executor works for %s; %s', about,
                CASE WHEN last.executor_no IS NULL THEN 'none has ever reached this database for it'
                     ELSE pg_catalog.format('the last one was %s on %s (pid %s)%s', last.executor_id, last.host,
                         last.pid,
                         CASE WHEN last.ended_error IS NOT NULL THEN ', which ended with: ' || last.ended_error
                              WHEN last.ended_why = 'drained' THEN ', which was ended in order'
                              ELSE ', which ended without a word: '
                                   || COALESCE(lockstep.login_fault(last.login),
                                               'it was killed, its host is gone, or its login is refused (its log '
                                               'says so)')
                         END) END), about, COALESCE(last.ended_at, last.heartbeat_at), names);
        END IF;
    ELSIF executor_row.staying = 0 THEN
        RETURN NEXT lockstep.explain_row(
            'executors_drain',
            pg_catalog.format('all executors of %s (%s) are draining%s', about, executor_row.living,
                              ' for ' || executor_row.drain_by), about,
            (SELECT pg_catalog.max(b.drain_at)
             FROM lockstep.executor b WHERE b.ended_at IS NULL AND queue_row.name = ANY (b.queues)),
            names);
    ELSIF executor_row.working = 0 AND executor_row.held IS NOT NULL THEN
        RETURN QUERY SELECT * FROM lockstep.explain_signalled(executor_row.held, about, names);
    ELSIF executor_row.working = 0 THEN
        SELECT l.actor, l.at INTO last
        FROM lockstep.event_log l
        WHERE l.event = 'executor_changed' AND l.executor_no = ANY (executor_row.nos) ORDER BY l.event_id DESC LIMIT 1;
        RETURN NEXT lockstep.explain_row('executors_without_readers',
                                         pg_catalog.format('all executors of %s (%s) are set to 0 readers%s', about,
                                                           executor_row.staying, ' by ' || last.actor),
                                         about, last.at, names || ARRAY['EXECUTOR', executor_row.one]);
    END IF;
    RETURN QUERY -- of one that was lost only while it may come again, as another incarnation, after at most a minute
    SELECT e.*
    FROM (SELECT x.executor_no, x.ended_why, a.since, a.failed_at, a.until_at, a.error
          FROM lockstep.executor_aside a JOIN lockstep.executor x USING (executor_no)
          WHERE a.queue_id = p_queue_id OFFSET 0) AS b
    CROSS JOIN LATERAL lockstep.explain_aside(
        b.executor_no,
        pg_catalog.format(
            '%s: %s',
            CASE WHEN b.until_at IS NULL THEN pg_catalog.format('fails at %s and starts again', about)
                 WHEN b.until_at > now THEN pg_catalog.format(
                     'has set %s aside and tries again in %s', about, lockstep.explain_words(b.until_at - now))
                 ELSE pg_catalog.format('has set %s aside and tries again now', about) END,
            b.error),
        about, b.since, names) AS e
    WHERE lockstep.executor_lives(b.executor_no) OR (b.ended_why = 'lost' AND b.failed_at > now - interval '2 minutes');
    IF executor_row.living = 0 THEN -- the rest is of executors that live
        RETURN;
    END IF;
    RETURN QUERY
    SELECT e.*
    FROM (SELECT x.*
          FROM lockstep.executor x
          WHERE x.ended_at IS NULL AND queue_row.name = ANY (x.queues) AND x.heartbeat_at < now - x.frozen_after
          OFFSET 0) AS b
    CROSS JOIN LATERAL lockstep.explain_row(
        'executor_silent',
        pg_catalog.format('executor %s on %s (pid %s) holds its locks and has not stirred for %s: it is frozen, or '
                          'cannot reach the database', b.executor_id, b.host, b.pid,
                          lockstep.explain_words(now - b.heartbeat_at)),
        about, b.heartbeat_at,
        names || ARRAY['EXECUTOR', b.executor_id::text, 'HOST', b.host, 'PID', b.pid::text]) AS e
    WHERE lockstep.executor_lives(b.executor_no) -- explain_locks names another session that has its lock
      AND b.executor_no NOT IN (SELECT l.key FROM lockstep.lock_strangers('executor') AS l);
    RETURN QUERY SELECT * FROM lockstep.explain_trouble(queue_row.name, about, names);
    RETURN QUERY -- one that has started again, and may fail again: with the error that ended its incarnation before
    SELECT e.*
    FROM (SELECT x.* FROM lockstep.executor x
          WHERE x.ended_at IS NULL AND queue_row.name = ANY (x.queues) OFFSET 0) AS b
    CROSS JOIN LATERAL (
        SELECT y.ended_why, y.ended_at, y.ended_error FROM lockstep.executor y
        WHERE y.host = b.host AND y.pid = b.pid AND y.executor_no < b.executor_no
        ORDER BY y.executor_no DESC LIMIT 1) AS w
    CROSS JOIN LATERAL lockstep.explain_aside(
        b.executor_no,
        pg_catalog.format('failed %s ago and has started again: %s', lockstep.explain_words(now - w.ended_at),
                          w.ended_error),
        about, w.ended_at, names) AS e
    WHERE w.ended_why = 'lost' AND w.ended_at > now - interval '1 minute'
      AND lockstep.explain_lacks(w.ended_error) IS NOT NULL
      AND NOT EXISTS (SELECT FROM lockstep.executor_aside a
                      WHERE a.queue_id = p_queue_id AND a.executor_no = b.executor_no)
      AND lockstep.executor_lives(b.executor_no);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_executors(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_executors(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
