-- Publishes rejected messages of one queue again, as the tasks that the caller has made of them, in one run: in the
-- caller's transaction, through the outbox. again: also those that were redriven before. preview: has the same
-- checks, and changes nothing. ends: so many ends of runs were left out.
CREATE OR REPLACE FUNCTION lockstep.redrive_many(ids bigint[], tasks jsonb[], reason text, again boolean,
    preview boolean, ends int DEFAULT 0) RETURNS json
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    run CONSTANT uuid := gen_random_uuid();
    queues int[];
    queue text;
    before record;
    is_free boolean; -- no producer is at work
BEGIN
    PERFORM lockstep.publish_allowed();
    SELECT array_agg(DISTINCT m.queue_id) INTO queues FROM lockstep.rejected_message m
    WHERE m.rejected_id = ANY (redrive_many.ids);
    IF COALESCE(cardinality(queues), 0) <> 1 THEN
        RAISE EXCEPTION 'the messages are of % queues, and a run is of one', COALESCE(cardinality(queues), 0)
            USING ERRCODE = 'LS002', HINT = 'Take those of one queue.';
    END IF;
    SELECT q.name INTO queue FROM lockstep.queue q WHERE q.queue_id = queues[1];
    is_free := pg_try_advisory_xact_lock(lockstep.lock_class('producer'), queues[1]);
    IF redrive_many.preview THEN
        before := lockstep.redrive_bar(redrive_many.ids, redrive_many.again, is_free);
    ELSE
        before := lockstep.redrive_begin(queues[1], redrive_many.ids, run, redrive_many.again, redrive_many.reason,
            is_free);
    END IF;
    IF before.rejected_id IS NOT NULL THEN
        RAISE EXCEPTION 'rejected message % was redriven % as run %', before.rejected_id,
            COALESCE('at ' || before.at::text, 'before, and its outcome is not known,'), before.run
            USING ERRCODE = 'LS002',
                  HINT = CASE WHEN before.at IS NOT NULL THEN 'If it is meant once more, say again: true.'
                              WHEN NOT is_free
                                  THEN format('Try again: a producer is at work. If it makes the run: '
                                              'lockstep run show %s', before.run)
                              WHEN EXISTS (SELECT FROM lockstep.enqueued e
                                           WHERE e.run_id = before.run AND e.queue_id = queues[1])
                                  THEN format('Try again when this run is sent; to see what it waits for: '
                                              'lockstep run explain %s', before.run)
                              ELSE format('Close this run, whose producer is gone, and try again: '
                                          'lockstep run end %s', before.run) END;
    END IF;
    IF redrive_many.preview THEN
        PERFORM lockstep.enqueue_check(t.task, t.n) FROM unnest(redrive_many.tasks) WITH ORDINALITY AS t (task, n);
        RETURN json_build_object('preview', true, 'queue', queue, 'messages', cardinality(redrive_many.tasks),
            'ends', redrive_many.ends, 'rejected_ids', to_jsonb(redrive_many.ids));
    END IF;
    PERFORM lockstep.enqueue_run(queues[1], redrive_many.tasks, 'redrive', run, NULL, NULL);
    -- If this commits, the relay sends the run, or refuses it (enqueue_refuse). A message that was redriven before
    -- keeps that redrive, and its note, until the run is on the topic.
    UPDATE lockstep.rejected_message m
    SET redrive_run = run, redriven_at = clock_timestamp(), redriven_by = m.redrive_noted_by, redrive_noted = NULL,
        redrive_noted_by = NULL
    WHERE m.rejected_id = ANY (redrive_many.ids) AND m.redriven_at IS NULL;
    RETURN json_build_object('run_id', run, 'queue', queue, 'messages', cardinality(redrive_many.tasks),
        'ends', redrive_many.ends);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.redrive_many(bigint[], jsonb[], text, boolean, boolean, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.redrive_many(bigint[], jsonb[], text, boolean, boolean, int)
    TO lockstep_producer, lockstep_operator;
