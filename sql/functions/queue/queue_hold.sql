-- An operator pauses a queue (held true) or lets it continue. No phase opens and nothing is claimed while it is paused.
-- Where it is so already, nothing is written.
CREATE OR REPLACE FUNCTION lockstep.queue_hold(queue text, held boolean, reason text DEFAULT NULL) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    own int;
    was boolean;
BEGIN
    -- of two at once the second finds what the first has done
    SELECT q.queue_id, q.paused INTO own, was FROM lockstep.queue q WHERE q.name = queue_hold.queue FOR NO KEY UPDATE;
    IF was = queue_hold.held THEN
        RETURN own;
    END IF;
    UPDATE lockstep.queue q
    SET paused = queue_hold.held, paused_by = CASE WHEN queue_hold.held THEN lockstep.actor() END,
        paused_at = CASE WHEN queue_hold.held THEN clock_timestamp() END, updated_at = clock_timestamp()
    WHERE q.name = queue_hold.queue RETURNING q.queue_id INTO own;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no queue %', COALESCE(queue_hold.queue, 'without a name')
            USING ERRCODE = 'LS003', HINT = 'lockstep queue list';
    END IF;
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    VALUES (CASE WHEN queue_hold.held THEN 'queue_paused' ELSE 'queue_resumed' END, own, reason);
    PERFORM pg_notify('lockstep_' || own, 'control');
    IF NOT queue_hold.held THEN
        PERFORM lockstep.worker_tell(own);
    END IF;
    RETURN own;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queue_hold(text, boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queue_hold(text, boolean, text) TO lockstep_operator;
