-- Why a run does not continue: see explain. p_whole: with what holds up its queue, and the run before it.
CREATE OR REPLACE FUNCTION lockstep.explain_run(p_run_no bigint, p_whole boolean DEFAULT true) RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    refused record;
    MOST CONSTANT int := 5000; -- tasks that are looked at: explain answers at once, whatever the size of a phase
    run_row record;
    queue_row record;
    before record;
    about text; names text[];
    open record;
    next_order bigint;
    counted record;
    endless record; -- why its end has not come
    blocked int[];  -- sessions that wait for a lock
    now timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT * INTO STRICT run_row FROM lockstep.run x WHERE x.run_no = p_run_no;
    SELECT * INTO STRICT queue_row FROM lockstep.queue x WHERE x.queue_id = run_row.queue_id;
    about := pg_catalog.concat_ws(' ', 'run', run_row.run_id, '"' || run_row.name || '"');
    names := ARRAY['QUEUE', queue_row.name, 'RUN', run_row.run_id::text]
        || CASE WHEN run_row.publish_from = 'pipe' THEN ARRAY['PIPED', ''] END;
    IF run_row.ended_at IS NOT NULL THEN
        SELECT m.kafka_offset, m.reason INTO refused FROM lockstep.rejected_message m
        WHERE m.run_no = p_run_no AND m.redriven_at IS NULL ORDER BY m.kafka_offset LIMIT 1;
        IF run_row.status <> 'Completed' AND refused.kafka_offset IS NOT NULL AND lockstep.run_retryable(p_run_no) THEN
            RETURN NEXT lockstep.explain_row('run_incomplete', pg_catalog.format('%s has ended, %s: %s; the first at offset %s: %s', about, run_row.status, run_row.error,
                refused.kafka_offset, refused.reason), about, run_row.ended_at, names);
            RETURN NEXT lockstep.explain_row('run_retryable', pg_catalog.format('a retry of %s runs what failed or was cancelled, and what was rejected is missing from it', about), about, run_row.ended_at, names);
            RETURN;
        END IF;
        RETURN NEXT lockstep.explain_row(CASE WHEN run_row.status = 'Completed' THEN 'run_ended' WHEN lockstep.run_retryable(p_run_no) THEN 'run_retryable'
            WHEN run_row.status = 'Cancelled' AND run_row.tasks = 0 THEN 'run_ended' ELSE 'run_incomplete' END, pg_catalog.concat_ws(': ', about || ' has ended, ' || run_row.status, run_row.error), about, run_row.ended_at, names);
        RETURN;
    END IF;
    IF p_whole THEN
        RETURN QUERY SELECT * FROM lockstep.explain_queue(run_row.queue_id);
    END IF;
    IF run_row.cancelled_at IS NOT NULL THEN
        RETURN NEXT lockstep.explain_row('run_stopping', pg_catalog.format('%s was %s; %s of its tasks still run', about, run_row.error,
            (SELECT pg_catalog.count(*) FROM lockstep.phase p JOIN lockstep.task t USING (phase_id)
             WHERE p.run_no = p_run_no AND p.done_at IS NULL AND NOT lockstep.is_finished(t.status))), about, run_row.cancelled_at, names);
    ELSIF run_row.paused_by IS NOT NULL THEN
        RETURN NEXT lockstep.explain_row('run_paused', pg_catalog.format('%s is paused by %s%s', about, run_row.paused_by,
            (SELECT ': ' || l.detail FROM lockstep.event_log l WHERE l.run_no = p_run_no AND l.event = 'run_paused' ORDER BY l.event_id DESC LIMIT 1)), about, run_row.paused_at, names);
    ELSIF run_row.status = 'Paused' THEN
        RETURN NEXT lockstep.explain_row('run_paused_by_failure', pg_catalog.format('%s waits for an operator (on_failure = pause): %s', about, run_row.error), about, run_row.paused_at, names);
    END IF;
    IF run_row.replay_id IS NOT NULL THEN
        RETURN NEXT lockstep.explain_row('run_replay', pg_catalog.format('replay %s is going over %s', run_row.replay_id, about), about,
            (SELECT y.started_at FROM lockstep.replay y WHERE y.replay_id = run_row.replay_id), names || ARRAY['REPLAY', run_row.replay_id::text]);
    END IF;
    IF run_row.first_offset IS NULL AND EXISTS (SELECT FROM lockstep.enqueued e WHERE e.run_no = p_run_no) THEN
        RETURN NEXT lockstep.explain_row('run_enqueued', pg_catalog.format('%s was enqueued by %s and is not on the topic yet%s%s', about, run_row.published_by,
            (SELECT pg_catalog.format(': backend %s of %s is publishing', a.pid, a.usename) FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a USING (pid)
             WHERE l.locktype = 'advisory' AND l.classid = lockstep.lock_class('producer')::oid AND l.objid = run_row.queue_id::oid AND l.objsubid = 2
               AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()) LIMIT 1),
            (SELECT ': ' || y.trouble FROM lockstep.relay y WHERE y.queue_id = run_row.queue_id AND y.kind = 'enqueue')), about, run_row.created_at, names);
        RETURN;
    END IF;
    IF run_row.first_offset IS NULL THEN
        endless := lockstep.explain_end(p_run_no);
        RETURN NEXT lockstep.explain_row(CASE WHEN endless.reason IN ('run_publishing', 'run_abandoned', 'run_records_gone') THEN endless.reason ELSE 'run_unclaimed' END,
            CASE WHEN endless.reason = 'run_records_gone' THEN pg_catalog.format('nothing of %s will be claimed: %s, to offset %s', about, endless.why, queue_row.next_offset)
                 ELSE pg_catalog.format('nothing of %s is claimed yet%s: the queue''s cursor is at offset %s', about,
                                        CASE WHEN run_row.published_at IS NULL THEN ', and ' || endless.why ELSE '' END, queue_row.next_offset) END,
            about, COALESCE(run_row.published_at, run_row.created_at), names);
        IF p_whole THEN
            RETURN QUERY SELECT e.* FROM (SELECT x.run_no FROM lockstep.run x WHERE x.queue_id = run_row.queue_id AND x.ended_at IS NULL AND x.first_offset IS NOT NULL
                                          ORDER BY x.first_offset LIMIT 1) AS oldest CROSS JOIN LATERAL lockstep.explain_run(oldest.run_no, false) AS e;
        END IF;
        RETURN;
    END IF;

    -- The oldest phase that is not done, and the next one.
    SELECT p.* INTO open FROM lockstep.phase p WHERE p.run_no = p_run_no AND p.done_at IS NULL
        AND (p.opened_at IS NULL -- the last tasks of a phase begin last
             OR EXISTS (SELECT FROM (SELECT k.status FROM lockstep.task k WHERE k.phase_id = p.phase_id ORDER BY k.kafka_offset DESC LIMIT MOST) AS t
                        WHERE NOT lockstep.is_finished(t.status))
             OR (SELECT true FROM lockstep.task t WHERE t.phase_id = p.phase_id AND NOT lockstep.is_finished(t.status) LIMIT 1))
    ORDER BY p."order" LIMIT 1;
    IF NOT FOUND THEN
        IF run_row.end_offset IS NULL AND run_row.cancelled_at IS NULL AND run_row.status <> 'Paused' THEN
            endless := lockstep.explain_end(p_run_no);
            RETURN NEXT lockstep.explain_row(endless.reason, pg_catalog.format('every claimed task of %s (%s) is finished; its end has not come: %s',
                about, run_row.tasks, endless.why), about, NULL, names);
        END IF;
        RETURN;
    END IF;
    IF open.opened_at IS NULL AND (open.previous_phase_id IS NULL OR open.after_runs) THEN
        FOR before IN SELECT x.run_no, x.run_id, x.name, x.status, x.started_at, x.cancelled_at FROM lockstep.run x
                 WHERE x.queue_id = run_row.queue_id AND x.ended_at IS NULL AND x.first_offset < run_row.first_offset
                   AND (run_row.implicit OR queue_row.runs = 'serial' OR run_row.after_run_no IS NOT NULL) ORDER BY x.first_offset LOOP
            RETURN NEXT lockstep.explain_row(CASE WHEN before.cancelled_at IS NOT NULL THEN 'run_before_stopping'
                WHEN lockstep.run_endless(before.run_no) THEN 'run_before_endless' ELSE 'run_before' END, pg_catalog.format('%s waits for the end of run %s, which is %s', about,
                pg_catalog.concat_ws(' ', before.run_id, '"' || before.name || '"'), before.status), about, before.started_at, names || ARRAY['OTHER', before.run_id::text]);
            IF p_whole THEN -- that one is what everybody waits for
                RETURN QUERY SELECT * FROM lockstep.explain_run(before.run_no, false);
            END IF;
            EXIT;
        END LOOP;
    END IF;
    SELECT p."order" INTO next_order FROM lockstep.phase p WHERE p.run_no = p_run_no AND p."order" > open."order" AND p.done_at IS NULL AND p.opened_at IS NULL
    ORDER BY p."order" LIMIT 1;
    IF next_order IS NOT NULL THEN
        SELECT pg_catalog.count(*) AS tasks, pg_catalog.count(*) FILTER (WHERE NOT lockstep.is_finished(t.status)) AS unfinished,
               pg_catalog.min(t.started_at) FILTER (WHERE NOT lockstep.is_finished(t.status)) AS since INTO counted
        FROM (SELECT k.status, k.started_at FROM lockstep.task k WHERE k.phase_id = open.phase_id LIMIT MOST + 1) AS t;
        RETURN NEXT lockstep.explain_row('phase_before', pg_catalog.format('order %s of %s waits for order %s: %s', next_order, about, open."order",
            CASE WHEN counted.tasks > MOST THEN pg_catalog.format('it has more than %s tasks', MOST)
                 ELSE pg_catalog.format('%s of %s not finished%s', counted.unfinished, lockstep.counted(counted.tasks, 'task'),
                                        ', the oldest for ' || lockstep.explain_words(now - counted.since)) END), about, open.opened_at, names);
    END IF;
    -- Those that wait for a lock first: others may have run for longer. Of a large phase what comes next, which is at work, too.
    blocked := ARRAY(SELECT DISTINCT l.pid FROM pg_catalog.pg_locks l WHERE NOT l.granted AND l.pid IS NOT NULL);
    RETURN QUERY SELECT e.* FROM (
        SELECT t.task_id
        FROM (SELECT k.task_id, k.backend_pid, k.status, k.started_at, k.kafka_offset FROM lockstep.task k WHERE k.phase_id = open.phase_id AND (open.opened_at IS NOT NULL OR k.needs IS NOT NULL) AND NOT lockstep.is_finished(k.status)
              ORDER BY k.kafka_offset LIMIT MOST) AS t
        ORDER BY t.backend_pid = ANY (blocked) AND t.status = 'Processing' DESC NULLS LAST, t.status = 'Pending', t.started_at NULLS LAST, t.kafka_offset LIMIT 3) AS oldest
    CROSS JOIN LATERAL lockstep.explain_task(oldest.task_id, false) AS e;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_run(bigint, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_run(bigint, boolean) TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
