-- Puts tasks into the outbox as one run, in the caller's transaction: sorted by order, tasks of one order in the order
-- of the array. A task that is wrong is refused with its number. p_job, p_started_by: of a job's run, and its trigger.
-- p_on_failure: NULL: the queue's; p_digest: of the call, where the caller has chosen the id; p_checked: enqueue_check
-- passed the tasks when they were stored. The answer is p_run.
CREATE OR REPLACE FUNCTION lockstep.enqueue_run(
    p_queue_id int, p_tasks jsonb[], p_name text, p_run uuid, p_job int, p_started_by text,
    p_on_failure text DEFAULT NULL, p_digest text DEFAULT NULL, p_checked boolean DEFAULT false)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    queue_row record;
    no bigint;
    tasks jsonb[] := p_tasks;
    task jsonb;
    task_order bigint;
    named jsonb;
    message text;
    sent text[] := '{}';
    size bigint := 0;
    layers int := 0;
    last_order bigint := 0;
    previous_order bigint := 0;
BEGIN
    SELECT b.queue_id, COALESCE(p_on_failure, b.on_failure) AS on_failure, b.next_offset INTO STRICT queue_row
    FROM lockstep.queue b WHERE b.queue_id = p_queue_id;
    IF NOT p_checked THEN
        PERFORM lockstep.enqueue_check(t.task, t.n) FROM pg_catalog.unnest(p_tasks) WITH ORDINALITY AS t (task, n);
    END IF;
    IF pg_catalog.cardinality(p_tasks) > 1 THEN
        tasks := ARRAY(SELECT t.task FROM pg_catalog.unnest(p_tasks) WITH ORDINALITY AS t (task, n)
                       ORDER BY (t.task ->> 'order')::bigint, t.n);
    END IF;
    FOREACH task IN ARRAY tasks LOOP
        task_order := (task ->> 'order')::bigint;
        IF task_order <> last_order THEN
            previous_order := last_order;
            last_order := task_order;
            layers := layers + 1;
        END IF;
        task := task || pg_catalog.jsonb_build_object('run', p_run, 'seq', pg_catalog.cardinality(sent),
                                                      'previous_order', previous_order);
        IF sent = '{}' THEN
            -- As a publisher does it: a database that is made again has them from the topic. The policy always has
            -- room; a task that leaves none for the name goes without it (producer/records.c).
            task := task || pg_catalog.jsonb_build_object('run_on_failure', queue_row.on_failure);
            named := task || pg_catalog.jsonb_build_object('run_name', p_name);
            task := CASE WHEN p_name IS NULL OR pg_catalog.octet_length(named::text) > 1000000 THEN task ELSE named END;
        END IF;
        message := task::text;
        sent := sent || message;
        size := size + pg_catalog.octet_length(message);
    END LOOP;
    message := pg_catalog.jsonb_build_object('type', 'end', 'run', p_run, 'seq', pg_catalog.cardinality(sent),
                                             'tasks', pg_catalog.cardinality(sent), 'phases', layers);
    sent := sent || message;
    size := size + pg_catalog.octet_length(message);
    IF size > 16 * 1024 * 1024 THEN
        RAISE EXCEPTION 'the tasks have % bytes, 16 MiB are allowed', size
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Publish more with lockstep publish.';
    END IF;

    INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, published_by, job_id, started_by,
                              publish_digest)
    VALUES (p_run, queue_row.queue_id, p_name, queue_row.on_failure, 'Publishing', lockstep.actor(), p_job,
            p_started_by, p_digest)
    RETURNING run_no INTO no;
    INSERT INTO lockstep.enqueued (queue_id, run_no, run_id, messages, phases, bytes, floor_offset)
    VALUES (queue_row.queue_id, no, p_run, sent, layers, size, queue_row.next_offset);
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
    VALUES ('run_enqueued', queue_row.queue_id, no,
            pg_catalog.format('%s in %s', lockstep.counted(pg_catalog.cardinality(sent) - 1, 'task'),
                              lockstep.counted(layers, 'phase')));
    PERFORM pg_catalog.pg_notify('lockstep_' || queue_row.queue_id, 'relay');
    RETURN p_run;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_run(int, jsonb[], text, uuid, int, text, text, text, boolean) FROM PUBLIC;
