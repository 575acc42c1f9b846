-- Publishes tasks as one run, in the caller's transaction: if that commits, the run comes onto the topic exactly once;
-- if not, there is nothing of it. Sorted by order; tasks of one order stay as they are given. The fields are those of
-- staged work (docs/how-to/publish.md). A task that is wrong is refused here, with its number. run: the id of the run:
-- a second call for the same, under the same id, gets the run that exists, and one for something else is refused.
-- Lockstep makes ids of versions 5 and 8 itself, of implicit runs and of jobs, so a caller's run has none of these.
-- on_failure: NULL: the queue's. Returns the run's id.
CREATE OR REPLACE FUNCTION lockstep.enqueue(queue text, tasks jsonb[], name text DEFAULT NULL, run uuid DEFAULT NULL,
    on_failure text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own int;
    digest CONSTANT text := CASE WHEN enqueue.run IS NOT NULL
        THEN encode(sha256(convert_to(
            jsonb_build_array(enqueue.name, enqueue.on_failure, to_jsonb(enqueue.tasks))::text, 'UTF8')), 'hex') END;
    known record;
BEGIN
    SELECT b.queue_id INTO own FROM lockstep.queue b WHERE b.name = enqueue.queue;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no queue %', COALESCE(enqueue.queue, 'without a name')
            USING ERRCODE = 'LS003', HINT = 'lockstep queue list';
    ELSIF COALESCE(cardinality(enqueue.tasks), 0) = 0 THEN
        RAISE EXCEPTION 'a run needs at least one task' USING ERRCODE = 'invalid_parameter_value',
            HINT = $h$ARRAY['{"order": 100, "sql": "SELECT 1"}'::jsonb]$h$;
    ELSIF array_ndims(enqueue.tasks) > 1 OR cardinality(enqueue.tasks) > 100000 THEN
        RAISE EXCEPTION 'the tasks of a run are an array of at most 100000' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Publish more of them with lockstep publish.';
    ELSIF length(enqueue.name) > 1000 THEN
        RAISE EXCEPTION 'the name of the run is longer than 1000 characters'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write a shorter one.';
    ELSIF enqueue.on_failure NOT IN ('stop', 'continue', 'pause') THEN
        RAISE EXCEPTION 'on_failure: "%" is not known', left(enqueue.on_failure, 64)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write stop, continue or pause.';
    ELSIF substr(enqueue.run::text, 15, 1) IN ('5', '8') THEN
        RAISE EXCEPTION 'run: % is an id of version %, which Lockstep makes itself', enqueue.run,
            substr(enqueue.run::text, 15, 1)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Take a UUID of version 4 or 7.';
    END IF;
    IF enqueue.run IS NULL THEN -- without a subtransaction
        RETURN lockstep.enqueue_run(own, enqueue.tasks, enqueue.name, gen_random_uuid(), NULL, NULL,
            enqueue.on_failure);
    END IF;
    BEGIN
        RETURN lockstep.enqueue_run(own, enqueue.tasks, enqueue.name, enqueue.run, NULL, NULL,
            enqueue.on_failure, digest);
    EXCEPTION WHEN unique_violation THEN -- of two at once the second has waited for the end of the first
        SELECT r.publish_digest INTO known FROM lockstep.run r WHERE r.queue_id = own AND r.run_id = enqueue.run;
        IF NOT FOUND AND current_setting('transaction_isolation') <> 'read committed' THEN
            RAISE EXCEPTION 'run % was made after this transaction began', enqueue.run
                USING ERRCODE = 'serialization_failure', HINT = 'Begin the transaction again.';
        ELSIF NOT FOUND THEN
            RAISE;
        ELSIF length(known.publish_digest) = length(digest) IS NOT TRUE THEN
            RAISE EXCEPTION 'run % exists, and whether it has these tasks is not known: lockstep publish made it, or '
                'it was read from the topic', enqueue.run
                USING ERRCODE = 'LS002', HINT = format('lockstep run show %s', enqueue.run);
        ELSIF known.publish_digest IS DISTINCT FROM digest THEN
            RAISE EXCEPTION 'run % exists, and its tasks, name or on_failure are other ones', enqueue.run
                USING ERRCODE = 'LS002',
                      HINT = format('Take another id for another run. To see this one: lockstep run show %s',
                                    enqueue.run);
        END IF;
        RETURN enqueue.run;
    END;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue(text, jsonb[], text, uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.enqueue(text, jsonb[], text, uuid, text) TO lockstep_producer;
