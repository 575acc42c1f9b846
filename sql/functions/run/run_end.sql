-- An operator closes a run whose end never comes, because its producer has died or the run is implicit. A run with an
-- id ends as aborted, as if its producer had aborted it: its open phase finishes, the phases that are not open are
-- cancelled. An implicit run ends as with an end message. Messages of either that are still on the topic are rejected
-- when they are claimed ("late", "hole"). A run of which no message was claimed cannot be aborted: it is Cancelled, as
-- by run_cancel.
-- end_offset is the cursor, so every claimed message lies before it, and closed_by says that no record is at this
-- offset.
--   unfinished   tasks that are still to finish
--   status       of the run after the call
CREATE OR REPLACE FUNCTION lockstep.run_end(run_id uuid, reason text DEFAULT NULL, queue text DEFAULT NULL,
    OUT status text, OUT unfinished bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    no CONSTANT bigint := lockstep.run_named(run_end.run_id, run_end.queue);
    own CONSTANT int := (SELECT r.queue_id FROM lockstep.run r WHERE r.run_no = no);
    why CONSTANT text := concat_ws(': ', 'ended by ' || lockstep.actor() || ', its end had not come', reason);
    queue_row record;
    r record;
    producer record;
BEGIN
    SELECT b.next_offset, b.halted_reason INTO STRICT queue_row
    FROM lockstep.queue b WHERE b.queue_id = own FOR NO KEY UPDATE;
    -- A gate of its first phase holds the row for a moment; a statement of its own sees the changes of that gate.
    PERFORM FROM lockstep.run b WHERE b.run_no = no FOR NO KEY UPDATE;
    SELECT b.* INTO STRICT r FROM lockstep.run b WHERE b.run_no = no;
    SELECT * INTO producer FROM lockstep.run_producer(no);
    IF r.ended_at IS NOT NULL THEN
        RAISE EXCEPTION 'run % has ended: it is %', r.run_id, r.status
            USING ERRCODE = 'LS002', HINT = format(CASE WHEN lockstep.run_retryable(no)
                THEN 'To run again what failed or was cancelled: lockstep run retry %s'
                ELSE 'To see how it ended: lockstep run show %s' END, r.run_id);
    ELSIF r.cancelled_at IS NOT NULL THEN
        RAISE EXCEPTION 'run % is being cancelled already, by %', r.run_id, r.cancelled_by
            USING ERRCODE = 'LS002', HINT = format('What it waits for: lockstep run explain %s', r.run_id);
    ELSIF r.end_offset IS NOT NULL THEN
        RAISE EXCEPTION 'run % has its end already: it ends when its tasks are finished', r.run_id
            USING ERRCODE = 'LS002', HINT = format('lockstep run cancel %s', r.run_id);
    ELSIF producer.pid IS NOT NULL THEN
        RAISE EXCEPTION 'run % is being published, by % (backend %)', r.run_id, producer.usename, producer.pid
            USING ERRCODE = 'LS002', HINT = format('lockstep run cancel %s', r.run_id);
    ELSIF r.published_at IS NOT NULL AND r.publish_acked_offset >= queue_row.next_offset
          AND queue_row.halted_reason IS NULL THEN
        RAISE EXCEPTION 'run % is published whole: its end is at offset %, the queue''s cursor at %', r.run_id,
                        r.publish_acked_offset, queue_row.next_offset
            USING ERRCODE = 'LS002', HINT = format('lockstep run cancel %s', r.run_id);
    ELSIF r.status = 'Paused' OR r.paused_by IS NOT NULL THEN
        RAISE EXCEPTION 'run % is paused', r.run_id
            USING ERRCODE = 'LS002', HINT = format('lockstep run cancel %s', r.run_id);
    ELSIF r.first_offset IS NULL THEN
        unfinished := 0;
        status := (SELECT c.status
                   FROM lockstep.run_cancel(r.run_id, run_end.reason,
                                            (SELECT b.name FROM lockstep.queue b WHERE b.queue_id = own)) AS c);
        RETURN;
    END IF;
    UPDATE lockstep.run
    SET end_offset = queue_row.next_offset, closed_by = lockstep.actor(), aborted = NOT r.implicit,
        published_at = COALESCE(run.published_at,
                                CASE WHEN run.publish_acked_seq IS NOT NULL THEN clock_timestamp() END),
        publish_error = CASE WHEN run.publish_acked_seq IS NOT NULL THEN why END
    WHERE run_no = no;
    UPDATE lockstep.queue b SET implicit_run_no = NULL WHERE b.queue_id = own AND b.implicit_run_no = no;
    IF NOT r.implicit THEN
        PERFORM lockstep.run_stop(no, 0, why);
    END IF;
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail) VALUES ('run_closed', own, no, why);
    PERFORM pg_notify('lockstep_' || own, 'cancel'); -- executors drop their tasks that were cancelled
    status := COALESCE(lockstep.run_finish(no), (SELECT b.status FROM lockstep.run b WHERE b.run_no = no));
    SELECT count(*) INTO unfinished FROM lockstep.phase p JOIN lockstep.task t USING (phase_id)
    WHERE p.run_no = no AND p.done_at IS NULL AND NOT lockstep.is_finished(t.status);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_end(uuid, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_end(uuid, text, text) TO lockstep_operator;
