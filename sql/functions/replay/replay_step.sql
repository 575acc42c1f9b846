-- One step of a replay: it handles a segment of the topic (as in replay_judge) and moves the replay's cursor past it,
-- in one transaction. Rows that are made or reopened have no owner; executors adopt them and run them through the same
-- gates. The runs on which it acts are marked: they do not end before the replay has passed their end.
--   p_seen: as in replay_judge; NULL: the session has not met the run. The replay may have met it before an
--   interruption (replay_met).
--
-- The answer has a row for each action and reason, with the number of records (see replay_judge), or one row whose
-- action is
--   wait      the step changed nothing, the cursor did not move: why is lookahead (enough phases of this run or of
--             earlier ones wait to be opened) or busy (a gate has the phase)
--   refused   the step changed nothing: why is halted (the queue is: the topic may not be the one from which the rows
--             came) or later_phase (a later phase of the run is at work; order is that phase's)
CREATE OR REPLACE FUNCTION lockstep.replay_step(p_replay_id int, p_segment lockstep.segment, p_seen boolean)
RETURNS TABLE (action text, why text, records bigint, run_id uuid, "order" bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    replay_row record;
    queue_row record;
    judged record;
    reopening bigint[] := '{}';
    making int[] := '{}'; -- indexes into the segment
    reopens record;
    own bigint;           -- the run
    says text[] := '{}';  -- action and reason, a record each
    own_phase bigint;
    at int;
    fresh bigint;         -- rows that were made
    unknown int[];        -- indexes of those whose run has no beginning
    is_busy boolean;
    seen boolean := COALESCE(p_seen, lockstep.replay_met(p_replay_id, p_segment.run));
BEGIN
    PERFORM lockstep.replay_allowed();
    SELECT y.queue_id, y.mode, y.cursor, y.state, y.reason, y.implicit_run_no, y.epoch INTO STRICT replay_row
    FROM lockstep.replay y WHERE y.replay_id = p_replay_id;
    IF replay_row.state <> 'Running' OR p_segment.offsets[1] < replay_row.cursor THEN
        RAISE EXCEPTION 'replay %: it is %, its cursor is at %, this is offset %', p_replay_id, replay_row.state,
                        replay_row.cursor, p_segment.offsets[1];
    END IF;
    -- Most of a range is skipped: that needs no lock.
    SELECT j.run_no INTO own
    FROM lockstep.replay_judge(replay_row.queue_id, replay_row.mode, p_segment.kind, p_segment.run, p_segment."order",
                               p_segment.offsets, p_segment.seqs, p_segment.payloads, seen) j
    WHERE j.action <> 'skip' LIMIT 1;
    IF FOUND THEN
        PERFORM FROM lockstep.queue b WHERE b.queue_id = replay_row.queue_id FOR NO KEY UPDATE;
        -- retention may have begun with it: then it is judged again
        PERFORM FROM lockstep.run b WHERE b.run_no = own FOR NO KEY UPDATE;
    END IF;
    SELECT b.epoch, b.name, b.halted_reason INTO STRICT queue_row
    FROM lockstep.queue b WHERE b.queue_id = replay_row.queue_id;
    IF replay_row.epoch <> queue_row.epoch THEN
        RAISE EXCEPTION 'replay %: the topic was accepted from an earlier offset since it began', p_replay_id
            USING ERRCODE = 'LS002',
                  HINT = format('To give it up: lockstep replay --queue %s --abandon %s', queue_row.name, p_replay_id);
    END IF;
    IF queue_row.halted_reason IS NOT NULL THEN
        RETURN QUERY SELECT 'refused'::text, 'halted'::text, 0::bigint, NULL::uuid, NULL::bigint;
        RETURN;
    END IF;
    FOR judged IN
        SELECT *
        FROM lockstep.replay_judge(replay_row.queue_id, replay_row.mode, p_segment.kind, p_segment.run,
                                   p_segment."order", p_segment.offsets, p_segment.seqs, p_segment.payloads, seen)
    LOOP
        own := CASE WHEN p_segment.kind <> 'reject' THEN judged.run_no END;
        own_phase := judged.phase_id;
        says := says || (judged.action || ' ' || judged.why);
        IF judged.action = 'reopen' THEN
            reopening := reopening || judged.task_id;
        ELSIF judged.action = 'make' THEN
            making := making || judged.n;
        END IF;
    END LOOP;

    IF p_segment.kind = 'task' AND (cardinality(making) > 0 OR reopening <> '{}')
       AND lockstep.replay_full(replay_row.queue_id, own, own_phase, p_segment.offsets[1]) THEN
        RETURN QUERY SELECT 'wait'::text, 'lookahead'::text, 0::bigint, NULL::uuid, NULL::bigint;
        RETURN;
    END IF;

    IF reopening <> '{}' THEN
        SELECT * INTO STRICT reopens
        FROM lockstep.reopen(own_phase, reopening, format('replay %s: %s', p_replay_id, replay_row.reason));
        IF reopens.verdict = 'refused' THEN
            RETURN QUERY
            SELECT 'refused'::text, 'later_phase'::text, 0::bigint, b.run_id, reopens.blocking
            FROM lockstep.run b WHERE b.run_no = own;
            RETURN;
        END IF;
        IF replay_row.mode = 'all' THEN
            UPDATE lockstep.task t SET step = NULL WHERE t.task_id = ANY (reopening); -- from the first step again
        END IF;
        PERFORM lockstep.replay_hold(p_replay_id, own);
    END IF;

    -- Messages without a run: the implicit run that is open here is the one of their rows, or the one that covers this
    -- place.
    IF p_segment.run IS NULL AND own IS NOT NULL AND own IS DISTINCT FROM replay_row.implicit_run_no
       AND (making = '{}'
            OR EXISTS (SELECT FROM lockstep.run b
                       WHERE b.run_no = own AND COALESCE(b.end_offset >= p_segment.offsets[1], true))) THEN
        PERFORM lockstep.replay_close(p_replay_id, p_segment.offsets[1]);
        UPDATE lockstep.replay y SET implicit_run_no = own WHERE y.replay_id = p_replay_id;
    END IF;
    SELECT m.fresh, m.own, m.unknown, m.is_busy INTO fresh, own, unknown, is_busy
    FROM lockstep.replay_make(p_replay_id, p_segment, making, own, replay_row.reason) AS m;
    IF is_busy AND (fresh > 0 OR reopening <> '{}') THEN
        -- the whole step again
        RAISE EXCEPTION 'replay %: the phase became busy', p_replay_id USING ERRCODE = 'serialization_failure';
    ELSIF is_busy THEN
        RETURN QUERY SELECT 'wait'::text, 'busy'::text, 0::bigint, NULL::uuid, NULL::bigint;
        RETURN;
    END IF;
    FOREACH at IN ARRAY unknown LOOP
        says[at] := 'skip no_beginning';
    END LOOP;
    IF fresh > 0 THEN
        PERFORM pg_notify('lockstep_' || replay_row.queue_id, 'work');
    END IF;
    UPDATE lockstep.replay y
    SET implicit_run_no = CASE WHEN p_segment.kind = 'end' AND p_segment.run IS NULL AND says = '{skip done}' THEN NULL
                               ELSE y.implicit_run_no END,
        cursor = p_segment.offsets[cardinality(p_segment.offsets)] + 1, made = y.made + fresh,
        reopened = y.reopened + cardinality(reopening), last_run_no = COALESCE(own, y.last_run_no)
    WHERE y.replay_id = p_replay_id;
    PERFORM lockstep.replay_pass(p_replay_id, false);
    RETURN QUERY
    SELECT split_part(s, ' ', 1), split_part(s, ' ', 2), count(*),
           (SELECT b.run_id FROM lockstep.run b WHERE b.run_no = own), p_segment."order"
    FROM unnest(says) AS s GROUP BY s ORDER BY s;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_step FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.replay_step TO lockstep_executor, lockstep_operator;
