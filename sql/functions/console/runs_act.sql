-- Does one act, cancel, pause, resume or retry, with several runs: those of ids, or the newest 1000 that the filter
-- describes ({queue, status, name, since, until}). A run for which the act is impossible is reported, and the others
-- are done nevertheless. Each is a change of its own in the event log. No run is begun after a second: the ids of the
-- rest are `left`. The next portion gets that answer as so_far, continues with the rest, and its answer counts both. A
-- run that takes longer than statement_timeout ends its portion; as the first one of a portion it is refused.
CREATE OR REPLACE FUNCTION lockstep.runs_act(action text, ids json, filter json, reason text, so_far json) RETURNS json
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    MOST CONSTANT int := 1000;
    PORTION CONSTANT interval := '1 second';
    since CONSTANT timestamptz := pg_catalog.clock_timestamp();
    patience CONSTANT text := pg_catalog.current_setting('statement_timeout'); -- 0: without end
    wanted uuid[];
    run uuid;
    begun int := 0;
    done bigint := COALESCE((so_far ->> 'done')::bigint, 0);
    refused json[] := ARRAY(SELECT r.item FROM pg_catalog.json_array_elements(so_far -> 'refused') AS r (item));
    words text;
    help text;
BEGIN
    IF (ids IS NULL) = (filter IS NULL) THEN
        RAISE EXCEPTION 'either runs or filter says which runs are meant' USING ERRCODE = '22023';
    END IF;
    wanted := CASE WHEN so_far IS NOT NULL THEN ARRAY(
                       SELECT i.id::uuid FROM pg_catalog.json_array_elements_text(so_far -> 'left') AS i (id))
                   WHEN ids IS NOT NULL
                       THEN ARRAY(SELECT i.id::uuid FROM pg_catalog.json_array_elements_text(ids) AS i (id))
                   ELSE ARRAY(SELECT r.run_id
                              FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
                              WHERE (filter ->> 'queue' IS NULL OR q.name = filter ->> 'queue')
                                AND (filter ->> 'status' IS NULL
                                     OR lockstep.run_state(r.status, r.published_at) = ANY (
                                         pg_catalog.string_to_array(filter ->> 'status', ',')))
                                AND (filter ->> 'name' IS NULL
                                     OR pg_catalog.strpos(pg_catalog.lower(pg_catalog.concat_ws(' ', r.name, r.run_id)),
                                                          pg_catalog.lower(filter ->> 'name')) > 0)
                                AND (filter ->> 'since' IS NULL OR r.created_at >= (filter ->> 'since')::timestamptz)
                                AND (filter ->> 'until' IS NULL OR r.created_at <= (filter ->> 'until')::timestamptz)
                              ORDER BY r.run_no DESC LIMIT MOST) END;
    IF pg_catalog.cardinality(wanted) > MOST THEN
        RAISE EXCEPTION 'at most % runs at once', MOST USING ERRCODE = '22023';
    END IF;
    FOREACH run IN ARRAY wanted LOOP
        EXIT WHEN begun > 0 AND pg_catalog.clock_timestamp() > since + PORTION;
        begun := begun + 1;
        BEGIN
            CASE action
            WHEN 'cancel' THEN PERFORM lockstep.run_cancel(run, reason);
            WHEN 'pause' THEN PERFORM lockstep.run_pause(run, reason);
            WHEN 'resume' THEN
                IF lockstep.run_resume(run, reason) = 'Paused' THEN
                    refused := refused || pg_catalog.json_build_object(
                        'run_id', run, 'detail', 'the pause of the operator has ended, and it waits for its failure',
                        'hint', 'Resume it once more, retry it, or cancel it.');
                    CONTINUE;
                END IF;
            WHEN 'retry' THEN PERFORM lockstep.run_retry(run, reason);
            END CASE;
            done := done + 1;
        EXCEPTION
        WHEN query_canceled THEN
            -- The same SQLSTATE has the cancel of a client that has gone: all is undone then.
            IF patience = '0' OR pg_catalog.clock_timestamp()
                                 < pg_catalog.statement_timestamp() + patience::interval - interval '100 ms' THEN
                RAISE;
            END IF;
            IF begun > 1 THEN -- it had a part of the time: it is the first one of the next portion
                begun := begun - 1;
                EXIT;
            END IF;
            refused := refused || pg_catalog.json_build_object(
                'run_id', run, 'detail', pg_catalog.format('it takes longer than %s', patience),
                'hint', 'Use the command, which waits for it: ' || pg_catalog.format(
                    CASE action WHEN 'cancel' THEN 'lockstep run cancel %s' WHEN 'pause' THEN 'lockstep run pause %s'
                                WHEN 'resume' THEN 'lockstep run resume %s' ELSE 'lockstep run retry %s' END, run));
        WHEN SQLSTATE 'LS000' OR lock_not_available OR serialization_failure OR deadlock_detected THEN
            GET STACKED DIAGNOSTICS words = MESSAGE_TEXT, help = PG_EXCEPTION_HINT;
            refused := refused
                       || pg_catalog.json_build_object('run_id', run, 'detail', words, 'hint', NULLIF(help, ''));
        END;
    END LOOP;
    RETURN pg_catalog.json_build_object('done', done, 'refused', pg_catalog.array_to_json(refused),
                                        'left', pg_catalog.array_to_json(wanted[begun + 1:]));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.runs_act(text, json, json, text, json) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.runs_act(text, json, json, text, json) TO lockstep_operator;
