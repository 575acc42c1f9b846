-- Notes, before anything is sent, the run that is to publish rejected messages again, so that a crash leaves no doubt
-- about them. The row keeps an earlier redrive until the new run is on the topic. Returns NULLs, or the message that
-- redrive_bar names; then nothing is noted.
-- p_settle: the caller holds the producers' lock, so a run that was noted by another one and not made is never made:
-- its messages are free again. Without the lock that producer may be about to make it. A run that is on the topic is
-- settled with and without the lock.
CREATE OR REPLACE FUNCTION lockstep.redrive_begin(
    p_queue_id int, p_ids bigint[], p_run uuid, p_again boolean, p_reason text, p_settle boolean,
    OUT rejected_id bigint, OUT run uuid, OUT at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    PERFORM lockstep.redrive_settle(p_queue_id, NULL, p_settle);
    PERFORM FROM lockstep.rejected_message WHERE rejected_id = ANY (p_ids) ORDER BY rejected_id FOR UPDATE;
    SELECT b.rejected_id, b.run, b.at INTO rejected_id, run, at
    FROM lockstep.redrive_bar(p_ids, p_again, p_settle) AS b;
    IF rejected_id IS NOT NULL THEN
        RETURN;
    END IF;
    UPDATE lockstep.rejected_message SET redrive_noted = p_run, redrive_noted_by = lockstep.actor()
    WHERE rejected_id = ANY (p_ids);
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    VALUES ('messages_redriven', p_queue_id, format('%s rejected message(s) again as run %s: %s (ids %s)',
            cardinality(p_ids), p_run, p_reason, left(array_to_string(p_ids, ','), 1000)));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.redrive_begin(int, bigint[], uuid, boolean, text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.redrive_begin(int, bigint[], uuid, boolean, text, boolean) TO lockstep_producer;
