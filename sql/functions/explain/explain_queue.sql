-- The reasons that hold up a whole queue, for explain. The plans of this function and of those that it calls are made
-- once a session: to make them for each queue takes three times as long as the rest of the call.
CREATE OR REPLACE FUNCTION lockstep.explain_queue(p_queue_id int) RETURNS SETOF lockstep.explanation
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    queue_row record;
    about text;
    names text[];
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
    RETURN QUERY SELECT * FROM lockstep.explain_readers(p_queue_id);
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
