-- The first message of a run makes the row of the run (unless its producer made it before) and decides which run it
-- waits for. claim calls this under the lock of the queue's row. A run waits for the newest run before it in log order
-- that has not ended (its gate checks the others; the runs behind it in the log exist already when a replay makes it),
-- unless the queue's runs are concurrent; an implicit run always waits.
-- p_payload: the first message, if it is a task: it may name the run and its policy, which count where its producer has
-- made no row.
CREATE OR REPLACE FUNCTION lockstep.run_start(
    p_queue_id int, p_run_id uuid, p_implicit boolean, p_offset bigint, p_payload text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    before bigint;
    made bigint;
    is_over boolean;
    policy text;
    tell boolean;
    now_epoch int;
BEGIN
    SELECT q.on_failure, q.events, q.epoch, CASE WHEN q.runs = 'serial' OR p_implicit THEN
               (SELECT b.run_no FROM lockstep.run b
                WHERE b.queue_id = q.queue_id AND b.ended_at IS NULL AND b.first_offset < p_offset
                ORDER BY b.first_offset DESC LIMIT 1) END
    INTO STRICT policy, tell, now_epoch, before
    FROM lockstep.queue q WHERE q.queue_id = p_queue_id;

    INSERT INTO lockstep.run AS r (run_id, queue_id, implicit, name, on_failure, status, after_run_no, first_offset,
                                   epoch, events)
    VALUES (p_run_id, p_queue_id, p_implicit, p_payload::json ->> 'run_name',
            COALESCE(p_payload::json ->> 'run_on_failure', policy), 'Running', before, p_offset, now_epoch, tell)
    ON CONFLICT (queue_id, run_id) DO UPDATE SET
        status = CASE WHEN r.cancelled_at IS NOT NULL AND r.ended_at IS NOT NULL THEN r.status
                      WHEN r.paused_by IS NULL THEN 'Running' ELSE 'Paused' END,
        after_run_no = EXCLUDED.after_run_no, first_offset = EXCLUDED.first_offset, epoch = EXCLUDED.epoch,
        events = EXCLUDED.events,
        ended_at = CASE WHEN r.cancelled_at IS NOT NULL THEN r.ended_at END,
        error = CASE WHEN r.cancelled_at IS NOT NULL THEN r.error END, swept = false
    RETURNING r.run_no, r.ended_at IS NOT NULL INTO made, is_over;
    IF is_over THEN -- an operator has cancelled it; if retention has deleted it since, it is to be deleted again
        DELETE FROM lockstep.run_summary s WHERE s.run_no = made;
    END IF;
    UPDATE lockstep.queue
    SET last_run_no = made,
        implicit_run_no = CASE WHEN p_implicit THEN made ELSE implicit_run_no END
    WHERE queue_id = p_queue_id;
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
    VALUES ('run_started', p_queue_id, made, pg_catalog.format('run %s at offset %s', p_run_id, p_offset));
    RETURN made;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.run_start(int, uuid, boolean, bigint, text) TO lockstep_executor;
