-- Notifies external workers that a queue may have tasks for them. It costs nothing where there are no external tasks.
CREATE OR REPLACE FUNCTION lockstep.worker_tell(p_queue_id int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM lockstep.phase p WHERE p.queue_id = p_queue_id AND p.done_at IS NULL AND p.external) THEN
        PERFORM pg_catalog.pg_notify('lockstep_external',
                                     (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = p_queue_id));
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.worker_tell(int) FROM PUBLIC;
