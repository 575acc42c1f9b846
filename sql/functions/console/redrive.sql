-- Publishes a rejected message again, corrected or as it is, as a run of its own: in the caller's transaction, through
-- the outbox. value: the corrected message; NULL: as it came. again: also one that was redriven before. preview: has
-- the same checks, and shows what would be published. NULL: there is no such message. As lockstep rejected redrive,
-- which does it with many.
CREATE OR REPLACE FUNCTION lockstep.redrive(rejected_id bigint, value text, reason text, again boolean, preview boolean)
RETURNS json LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    m record;
    task jsonb;
    document json;
BEGIN
    PERFORM lockstep.publish_allowed();
    SELECT r.queue_id, r.raw, q.name AS queue INTO m
    FROM lockstep.rejected_message r JOIN lockstep.queue q USING (queue_id) WHERE r.rejected_id = redrive.rejected_id;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    BEGIN
        task := COALESCE(redrive.value, lockstep.bytes_text(m.raw))::jsonb;
    EXCEPTION WHEN data_exception THEN
        RAISE EXCEPTION 'the message is not JSON: %', SQLERRM
            USING ERRCODE = 'LS002', HINT = 'Correct it: `value` is the message that is published instead.';
    END;
    IF task IS NULL OR task ->> 'type' = 'end' THEN
        RAISE EXCEPTION 'the message is %', CASE WHEN task IS NULL THEN 'no text' ELSE 'the end of a run' END
            USING ERRCODE = 'LS002', HINT = 'Correct it: `value` is the message that is published instead.';
    END IF;
    IF jsonb_typeof(task) = 'object' THEN
        task := task - '{run,seq,previous_order,run_name,run_on_failure}'::text[]; -- those of the new run are others
    END IF;
    document := lockstep.redrive_many(ARRAY[redrive.rejected_id], ARRAY[task], redrive.reason, redrive.again,
        redrive.preview);
    IF redrive.preview THEN
        RETURN json_build_object('preview', true, 'queue', m.queue, 'messages', 1, 'order', task -> 'order',
                                 'task', task);
    END IF;
    RETURN document;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.redrive(bigint, text, text, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.redrive(bigint, text, text, boolean, boolean)
    TO lockstep_producer, lockstep_operator;
