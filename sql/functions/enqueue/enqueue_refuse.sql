-- An enqueued run cannot be published: one of its messages is none. Nothing of it is on the topic; it is Failed, with
-- the reason, unless an operator has cancelled it. Rejected messages that it was to redrive are free again, or keep
-- their earlier redrive.
CREATE OR REPLACE FUNCTION lockstep.enqueue_refuse(p_enqueue_id bigint, p_why text) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    own record;
BEGIN
    SELECT e.queue_id, e.run_no, e.run_id INTO STRICT own FROM lockstep.enqueued e WHERE e.enqueue_id = p_enqueue_id;
    PERFORM lockstep.run_unpublished(own.run_no, 'Failed', p_why); -- first: it locks the queue's row
    DELETE FROM lockstep.enqueued WHERE enqueue_id = p_enqueue_id;
    PERFORM FROM lockstep.rejected_message -- in the order of redrive_begin
    WHERE rejected_id = ANY (
              ARRAY(SELECT m.rejected_id FROM lockstep.rejected_message m WHERE m.redrive_run = own.run_id)
              || ARRAY(SELECT m.rejected_id FROM lockstep.rejected_message m WHERE m.redrive_noted = own.run_id))
    ORDER BY rejected_id FOR UPDATE;
    UPDATE lockstep.rejected_message SET redrive_run = NULL, redriven_at = NULL, redriven_by = NULL
    WHERE redrive_run = own.run_id AND queue_id = own.queue_id;
    UPDATE lockstep.rejected_message SET redrive_noted = NULL, redrive_noted_by = NULL
    WHERE redrive_noted = own.run_id AND queue_id = own.queue_id;
    RETURN own.run_id;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_refuse(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.enqueue_refuse(bigint, text) TO lockstep_executor;
