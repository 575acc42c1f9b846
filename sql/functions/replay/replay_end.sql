-- A replay has come to the end of its range (Completed), or is given up (Abandoned): the runs that it holds are
-- released. The implicit run that is open at its cursor becomes the queue's if no message lies between the two, so that
-- live messages continue it; else it ends here. open_runs: runs on which the replay acted and whose end is not known
-- and does not come with live work.
CREATE OR REPLACE FUNCTION lockstep.replay_end(
    p_replay_id int, p_state text, OUT made bigint, OUT reopened bigint, OUT open_runs uuid[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    replay_row record;
    live record;
BEGIN
    SELECT y.queue_id INTO STRICT replay_row FROM lockstep.replay y WHERE y.replay_id = p_replay_id;
    SELECT q.next_offset, q.implicit_run_no INTO STRICT live
    FROM lockstep.queue q WHERE q.queue_id = replay_row.queue_id FOR NO KEY UPDATE;
    UPDATE lockstep.replay y
    SET state = p_state, ended_at = clock_timestamp(),
        cursor = CASE WHEN p_state = 'Completed' THEN y.to_offset ELSE y.cursor END
    WHERE y.replay_id = p_replay_id AND y.ended_at IS NULL
    RETURNING y.queue_id, y.cursor, y.implicit_run_no, y.made, y.reopened INTO STRICT replay_row;
    IF replay_row.cursor >= live.next_offset AND live.implicit_run_no IS NULL THEN
        UPDATE lockstep.queue q SET implicit_run_no = replay_row.implicit_run_no
        WHERE q.queue_id = replay_row.queue_id
          AND EXISTS (SELECT FROM lockstep.run r WHERE r.run_no = replay_row.implicit_run_no AND r.end_offset IS NULL);
    END IF;
    PERFORM lockstep.replay_close(p_replay_id, replay_row.cursor);
    open_runs := ARRAY(SELECT r.run_id FROM lockstep.run r
                       WHERE r.replay_id = p_replay_id AND r.end_offset IS NULL AND replay_row.cursor < live.next_offset
                       ORDER BY r.first_offset LIMIT 100);
    PERFORM lockstep.replay_pass(p_replay_id, true);
    made := replay_row.made;
    reopened := replay_row.reopened;
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    VALUES (CASE p_state WHEN 'Completed' THEN 'replay_completed' ELSE 'replay_abandoned' END, replay_row.queue_id,
            format('replay %s: %s made, %s reopened, up to offset %s', p_replay_id, made, reopened, replay_row.cursor));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_end(int, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.replay_end(int, text) TO lockstep_executor, lockstep_operator;
