-- Begins a replay, or continues the unfinished one of the queue if that was asked for: by its number (p_replay_id), or
-- by the same range, mode and choice. The caller holds the advisory lock of replays of this queue, so no other session
-- drives one.
--
-- The same command names other offsets later: retention moves the beginning of the topic, records come to its end, and
-- where a run lies becomes known. p_earliest: nothing of the topic lies before p_from. p_latest: p_to is the end of the
-- topic, and not chosen as a number. The unfinished replay may then begin earlier, or end earlier, and one of a run may
-- have any range. It keeps the range that it has.
--
-- verdict   begun, resumed
--           other      another one is unfinished: replay_id names it
--           ended      p_replay_id has ended
--           unknown    p_replay_id is no replay of this queue
--           halted     the queue is: the topic may not be the one from which the rows came
CREATE OR REPLACE FUNCTION lockstep.replay_begin(
    p_queue_id int, p_replay_id int, p_mode text, p_from bigint, p_to bigint, p_run uuid, p_order bigint, p_why text,
    p_earliest boolean, p_latest boolean,
    OUT verdict text, OUT replay_id int, OUT cursor bigint, OUT to_offset bigint, OUT mode text, OUT run_id uuid,
    OUT "order" bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    open record;
    same boolean;
BEGIN
    PERFORM lockstep.replay_allowed();
    IF EXISTS (SELECT FROM lockstep.queue q WHERE q.queue_id = p_queue_id AND q.halted_reason IS NOT NULL) THEN
        verdict := 'halted';
        RETURN;
    END IF;
    SELECT y.* INTO open FROM lockstep.replay y WHERE y.queue_id = p_queue_id AND y.ended_at IS NULL;
    same := CASE WHEN p_replay_id IS NOT NULL THEN open.replay_id = p_replay_id
                 ELSE open.mode = p_mode
                      AND open.run_id IS NOT DISTINCT FROM p_run AND open."order" IS NOT DISTINCT FROM p_order
                      AND (p_run IS NOT NULL
                           OR ((open.from_offset = p_from OR (p_earliest AND open.from_offset < p_from))
                               AND (open.to_offset = p_to OR (p_latest AND open.to_offset < p_to)))) END;
    IF open.replay_id IS NULL AND p_replay_id IS NULL THEN
        INSERT INTO lockstep.replay (queue_id, mode, from_offset, to_offset, run_id, "order", cursor, reason, epoch,
                                     last_run_no)
        VALUES (p_queue_id, p_mode, p_from, p_to, p_run, p_order, p_from, p_why,
                (SELECT q.epoch FROM lockstep.queue q WHERE q.queue_id = p_queue_id),
                (SELECT r.run_no
                 FROM lockstep.run r JOIN lockstep.queue q ON q.queue_id = r.queue_id AND q.epoch = r.epoch
                 WHERE r.queue_id = p_queue_id AND r.first_offset < p_from ORDER BY r.first_offset DESC LIMIT 1))
        RETURNING * INTO STRICT open;
        verdict := 'begun';
    ELSIF same THEN
        verdict := 'resumed';
    ELSE
        verdict := CASE WHEN p_replay_id IS NULL THEN 'other'
                        WHEN EXISTS (SELECT FROM lockstep.replay y
                                     WHERE y.queue_id = p_queue_id AND y.replay_id = p_replay_id)
                            THEN 'ended'
                        ELSE 'unknown' END;
    END IF;
    replay_id := open.replay_id;
    cursor := open.cursor;
    to_offset := open.to_offset;
    mode := open.mode;
    run_id := open.run_id;
    "order" := open."order";
    IF verdict IN ('begun', 'resumed') THEN
        INSERT INTO lockstep.event_log (event, queue_id, detail)
        VALUES ('replay_' || verdict, p_queue_id,
                format('replay %s, mode %s, offsets %s to %s%s, from %s: %s', replay_id, mode, open.from_offset,
                       to_offset, concat(' of run ' || run_id, ', order ' || "order"), cursor,
                       COALESCE(p_why, open.reason)));
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_begin(
    int, int, text, bigint, bigint, uuid, bigint, text, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.replay_begin(
    int, int, text, bigint, bigint, uuid, bigint, text, boolean, boolean) TO lockstep_executor, lockstep_operator;
