-- Publishes tasks as one run, in the caller's transaction: if that commits, the run comes onto the topic exactly once; if not, there
-- is nothing of it. Sorted by order; tasks of one order stay as they are given. The fields are those of staged work (docs/how-to/publish.md).
-- A task that is wrong is refused here, with its number. Returns the run's id.
CREATE OR REPLACE FUNCTION lockstep.enqueue(queue text, tasks jsonb[], name text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    queue_row record;
    run CONSTANT uuid := gen_random_uuid();
    no bigint;
    sent text[];
    layers int;
    size bigint;
BEGIN
    SELECT b.queue_id, b.on_failure, b.next_offset INTO queue_row FROM lockstep.queue b WHERE b.name = enqueue.queue;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no queue %', COALESCE(enqueue.queue, 'without a name') USING ERRCODE = 'LS003', HINT = 'lockstep queue list';
    ELSIF COALESCE(cardinality(enqueue.tasks), 0) = 0 THEN
        RAISE EXCEPTION 'a run needs at least one task' USING ERRCODE = 'invalid_parameter_value',
            HINT = $h$ARRAY['{"order": 100, "sql": "SELECT 1"}'::jsonb]$h$;
    ELSIF array_ndims(enqueue.tasks) > 1 OR cardinality(enqueue.tasks) > 100000 THEN
        RAISE EXCEPTION 'the tasks of a run are an array of at most 100000' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'More of them: lockstep publish.';
    ELSIF octet_length(enqueue.name) > 1000 THEN
        RAISE EXCEPTION 'the name of the run is longer than 1000 bytes' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM lockstep.enqueue_check(t.task, t.n) FROM unnest(enqueue.tasks) WITH ORDINALITY AS t (task, n);
    WITH given AS (
        SELECT t.task, (t.task ->> 'order')::bigint AS ord, t.n FROM unnest(enqueue.tasks) WITH ORDINALITY AS t (task, n)),
    placed AS (
        SELECT g.task, g.ord, row_number() OVER (ORDER BY g.ord, g.n) - 1 AS seq, dense_rank() OVER (ORDER BY g.ord) AS phase FROM given g),
    layer AS (SELECT p.phase, p.ord, lag(p.ord, 1, 0::bigint) OVER (ORDER BY p.phase) AS before FROM (SELECT DISTINCT phase, ord FROM placed) AS p)
    SELECT array_agg((p.task || jsonb_build_object('run', run, 'seq', p.seq, 'previous_order', l.before))::text ORDER BY p.seq), max(p.phase)
    INTO sent, layers
    FROM placed p JOIN layer l USING (phase);
    -- As a publisher does it: a database that is made again has them from the topic.
    sent[1] := (sent[1]::jsonb || jsonb_strip_nulls(jsonb_build_object('run_name', enqueue.name, 'run_on_failure', queue_row.on_failure)))::text;
    sent := sent || jsonb_build_object('type', 'end', 'run', run, 'seq', cardinality(sent), 'tasks', cardinality(sent), 'phases', layers)::text;
    SELECT sum(octet_length(s)) INTO size FROM unnest(sent) AS s;
    IF size > 16 * 1024 * 1024 THEN
        RAISE EXCEPTION 'the tasks have % bytes, 16 MiB are allowed', size USING ERRCODE = 'invalid_parameter_value', HINT = 'More: lockstep publish.';
    END IF;

    INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, published_by)
    VALUES (run, queue_row.queue_id, enqueue.name, queue_row.on_failure, 'Publishing', session_user) RETURNING run_no INTO no;
    INSERT INTO lockstep.enqueued (queue_id, run_no, run_id, messages, phases, bytes, floor_offset)
    VALUES (queue_row.queue_id, no, run, sent, layers, size, queue_row.next_offset);
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
    VALUES ('run_enqueued', queue_row.queue_id, no, format('%s tasks in %s phases', cardinality(sent) - 1, layers));
    PERFORM pg_notify('lockstep_' || queue_row.queue_id, 'relay');
    RETURN run;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue(text, jsonb[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.enqueue(text, jsonb[], text) TO lockstep_producer;
