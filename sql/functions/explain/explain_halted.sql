-- A queue that is halted or paused, for explain.
CREATE OR REPLACE FUNCTION lockstep.explain_halted(p_queue_id int) RETURNS SETOF lockstep.explanation
LANGUAGE plpgsql AS $$
DECLARE
    queue_row record;
    about text;
BEGIN
    SELECT * INTO STRICT queue_row FROM lockstep.queue b WHERE b.queue_id = p_queue_id;
    about := 'queue ' || queue_row.name;
    IF queue_row.halted_reason IS NOT NULL THEN
        RETURN NEXT lockstep.explain_row(
            'queue_halted',
            pg_catalog.format('%s is halted (%s): %s', about, queue_row.halted_reason, queue_row.halted_detail), about,
            queue_row.halted_at, ARRAY['REMEDY', lockstep.halt_remedy(p_queue_id)]);
    END IF;
    IF queue_row.paused THEN
        RETURN NEXT lockstep.explain_row('queue_paused',
                                         pg_catalog.format('%s is paused by %s%s', about, queue_row.paused_by,
                                                           (SELECT ': ' || l.detail
                                                            FROM lockstep.event_log l
                                                            WHERE l.queue_id = p_queue_id AND l.event = 'queue_paused'
                                                            ORDER BY l.event_id DESC LIMIT 1)),
                                         about, queue_row.paused_at, ARRAY['QUEUE', queue_row.name]);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_halted(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_halted(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
