-- An operator lets a paused queue continue. A halted one is another matter: sql/queue/retry.sql, accept.sql.
CREATE OR REPLACE FUNCTION lockstep.queue_resume(queue text, reason text DEFAULT NULL) RETURNS int LANGUAGE sql AS $$
    SELECT lockstep.queue_hold(queue, false, reason)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queue_resume(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queue_resume(text, text) TO lockstep_operator;
