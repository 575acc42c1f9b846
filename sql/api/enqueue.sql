-- Publishes tasks as one run, in the caller's transaction: if that commits, the run comes onto the topic exactly once;
-- if not, there is nothing of it. Sorted by order; tasks of one order stay as they are given. The fields are those of
-- staged work (docs/how-to/publish.md). A task that is wrong is refused here, with its number. Returns the run's id.
CREATE OR REPLACE FUNCTION lockstep.enqueue(queue text, tasks jsonb[], name text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own int;
BEGIN
    SELECT b.queue_id INTO own FROM lockstep.queue b WHERE b.name = enqueue.queue;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no queue %', COALESCE(enqueue.queue, 'without a name') USING ERRCODE = 'LS003', HINT = 'lockstep queue list';
    ELSIF COALESCE(cardinality(enqueue.tasks), 0) = 0 THEN
        RAISE EXCEPTION 'a run needs at least one task' USING ERRCODE = 'invalid_parameter_value',
            HINT = $h$ARRAY['{"order": 100, "sql": "SELECT 1"}'::jsonb]$h$;
    ELSIF array_ndims(enqueue.tasks) > 1 OR cardinality(enqueue.tasks) > 100000 THEN
        RAISE EXCEPTION 'the tasks of a run are an array of at most 100000' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Publish more of them with lockstep publish.';
    ELSIF octet_length(enqueue.name) > 1000 THEN
        RAISE EXCEPTION 'the name of the run is longer than 1000 bytes' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN lockstep.enqueue_run(own, enqueue.tasks, enqueue.name, gen_random_uuid(), NULL, NULL);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue(text, jsonb[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.enqueue(text, jsonb[], text) TO lockstep_producer;
