-- The reasons for which a run does not continue, for explain. p_whole: with the reasons that hold up its queue and the
-- run before it.
CREATE OR REPLACE FUNCTION lockstep.explain_run(p_run_no bigint, p_whole boolean DEFAULT true)
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    MOST CONSTANT int := 5000; -- tasks that are read: explain answers at once, also for a large phase
    run_row lockstep.run;
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
        RETURN QUERY SELECT * FROM lockstep.explain_run_ended(run_row, about, names);
        RETURN;
    END IF;
    IF p_whole THEN
        RETURN QUERY SELECT * FROM lockstep.explain_queue(run_row.queue_id);
    END IF;
    RETURN QUERY SELECT * FROM lockstep.explain_run_stopped(run_row, about, names);
    IF run_row.first_offset IS NULL THEN
        RETURN QUERY SELECT * FROM lockstep.explain_run_unclaimed(run_row, about, names);
        IF p_whole AND NOT EXISTS (SELECT FROM lockstep.enqueued e WHERE e.run_no = p_run_no) THEN
            RETURN QUERY
            SELECT e.*
            FROM (SELECT x.run_no
                  FROM lockstep.run x
                  WHERE x.queue_id = run_row.queue_id AND x.ended_at IS NULL AND x.first_offset IS NOT NULL
                    -- where runs are concurrent, none waits for one that is paused
                    AND (x.implicit OR queue_row.runs = 'serial' OR (x.status <> 'Paused' AND x.paused_by IS NULL))
                  ORDER BY x.first_offset LIMIT 1) AS oldest
            CROSS JOIN LATERAL lockstep.explain_run(oldest.run_no, false) AS e;
        END IF;
        RETURN;
    END IF;

    -- The oldest phase that is not done, and the next one.
    SELECT p.* INTO open
    FROM lockstep.phase p
    WHERE p.run_no = p_run_no AND p.done_at IS NULL
      AND (p.opened_at IS NULL -- the last tasks of a phase begin last
           OR EXISTS (SELECT FROM (SELECT k.status
                                   FROM lockstep.task k
                                   WHERE k.phase_id = p.phase_id ORDER BY k.kafka_offset DESC LIMIT MOST) AS t
                      WHERE NOT lockstep.is_finished(t.status))
           OR (SELECT true
               FROM lockstep.task t WHERE t.phase_id = p.phase_id AND NOT lockstep.is_finished(t.status) LIMIT 1))
    ORDER BY p."order" LIMIT 1;
    IF NOT FOUND THEN
        IF run_row.end_offset IS NULL AND run_row.cancelled_at IS NULL AND run_row.status <> 'Paused' THEN
            endless := lockstep.explain_end(p_run_no);
            RETURN NEXT lockstep.explain_row(
                endless.reason, pg_catalog.format('every claimed task of %s (%s) is finished; its end has not come: %s',
                    about, run_row.tasks, endless.why), about, NULL, names);
        END IF;
        RETURN;
    END IF;
    IF open.opened_at IS NULL AND (open.previous_phase_id IS NULL OR open.after_runs) THEN
        FOR before IN
            SELECT x.run_no, x.run_id, x.name, x.status, x.started_at, x.cancelled_at
            FROM lockstep.run x
            WHERE x.queue_id = run_row.queue_id AND x.ended_at IS NULL AND x.first_offset < run_row.first_offset
              AND (run_row.implicit OR queue_row.runs = 'serial' OR run_row.after_run_no IS NOT NULL)
            ORDER BY x.first_offset
        LOOP
            RETURN NEXT lockstep.explain_row(
                CASE WHEN before.cancelled_at IS NOT NULL THEN 'run_before_stopping'
                     WHEN lockstep.run_endless(before.run_no) THEN 'run_before_endless' ELSE 'run_before' END,
                pg_catalog.format('%s waits for the end of run %s, which is %s', about,
                                  pg_catalog.concat_ws(' ', before.run_id, '"' || before.name || '"'), before.status),
                about, before.started_at, names || ARRAY['OTHER', before.run_id::text]);
            IF p_whole THEN -- all later runs wait for that one
                RETURN QUERY SELECT * FROM lockstep.explain_run(before.run_no, false);
            END IF;
            EXIT;
        END LOOP;
    END IF;
    SELECT p."order" INTO next_order
    FROM lockstep.phase p
    WHERE p.run_no = p_run_no AND p."order" > open."order" AND p.done_at IS NULL AND p.opened_at IS NULL
    ORDER BY p."order" LIMIT 1;
    IF next_order IS NOT NULL THEN
        SELECT pg_catalog.count(*) AS tasks,
               pg_catalog.count(*) FILTER (WHERE NOT lockstep.is_finished(t.status)) AS unfinished,
               pg_catalog.min(t.started_at) FILTER (WHERE NOT lockstep.is_finished(t.status)) AS since
        INTO counted
        FROM (SELECT k.status, k.started_at FROM lockstep.task k WHERE k.phase_id = open.phase_id LIMIT MOST + 1) AS t;
        RETURN NEXT lockstep.explain_row(
            'phase_before',
            pg_catalog.format('order %s of %s waits for order %s: %s', next_order, about, open."order",
                              CASE WHEN counted.tasks > MOST THEN pg_catalog.format('it has more than %s tasks', MOST)
                                   ELSE pg_catalog.format(
                                       '%s of %s not finished%s', counted.unfinished,
                                       lockstep.counted(counted.tasks, 'task'),
                                       ', the oldest for ' || lockstep.explain_words(now - counted.since)) END),
            about, open.opened_at, names);
    END IF;
    -- Tasks that wait for a lock come first: others may have run for longer. Of a large phase only the next tasks are
    -- read, which are at work, too.
    blocked := ARRAY(SELECT DISTINCT l.pid FROM pg_catalog.pg_locks l WHERE NOT l.granted AND l.pid IS NOT NULL);
    RETURN QUERY
    SELECT e.*
    FROM (SELECT t.task_id
          FROM (SELECT k.task_id, k.backend_pid, k.status, k.started_at, k.kafka_offset
                FROM lockstep.task k
                WHERE k.phase_id = open.phase_id AND (open.opened_at IS NOT NULL OR k.needs IS NOT NULL)
                  AND NOT lockstep.is_finished(k.status)
                ORDER BY k.kafka_offset LIMIT 1000) AS t -- those that run are among them
          ORDER BY t.backend_pid = ANY (blocked) AND t.status = 'Processing' DESC NULLS LAST, t.status = 'Pending',
                   t.started_at NULLS LAST, t.kafka_offset
          LIMIT 3) AS oldest
    CROSS JOIN LATERAL lockstep.explain_task(oldest.task_id, false) AS e;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_run(bigint, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_run(bigint, boolean)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
