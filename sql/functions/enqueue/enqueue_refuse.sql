-- An enqueued run cannot be published: one of its messages is none. Nothing of it is on the topic; it is Failed, with
-- the reason. Rejected messages that it was to redrive are free again, or keep their earlier redrive.
CREATE OR REPLACE FUNCTION lockstep.enqueue_refuse(p_enqueue_id bigint, p_why text) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    own record;
BEGIN
    DELETE FROM lockstep.enqueued WHERE enqueue_id = p_enqueue_id RETURNING queue_id, run_no, run_id INTO STRICT own;
    UPDATE lockstep.run SET status = 'Failed', error = p_why, ended_at = pg_catalog.clock_timestamp()
    WHERE run_no = own.run_no;
    PERFORM FROM lockstep.rejected_message -- in the order of redrive_begin
    WHERE rejected_id = ANY (
              ARRAY(SELECT m.rejected_id FROM lockstep.rejected_message m WHERE m.redrive_run = own.run_id)
              || ARRAY(SELECT m.rejected_id FROM lockstep.rejected_message m WHERE m.redrive_noted = own.run_id))
    ORDER BY rejected_id FOR UPDATE;
    UPDATE lockstep.rejected_message SET redrive_run = NULL, redriven_at = NULL, redriven_by = NULL
    WHERE redrive_run = own.run_id AND queue_id = own.queue_id;
    UPDATE lockstep.rejected_message SET redrive_noted = NULL, redrive_noted_by = NULL
    WHERE redrive_noted = own.run_id AND queue_id = own.queue_id;
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
    VALUES ('publish_failed', own.queue_id, own.run_no, p_why);
    PERFORM pg_catalog.pg_notify('lockstep_' || own.queue_id, 'run');
    RETURN own.run_id;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_refuse(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.enqueue_refuse(bigint, text) TO lockstep_executor;
