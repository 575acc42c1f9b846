-- As fail, for an attempt outside the database: keeps its answer, and puts the next attempt off for as long as the
-- server asked (p_retry_after_s, NULL: it did not), if that is later than the interval. It is durable at once, as the
-- begin was: else a crash of the server would undo it, and count the attempt as the cause.
CREATE OR REPLACE FUNCTION lockstep.action_fail(
    p_task_id bigint, p_token uuid, p_permanent boolean, p_ran_us bigint, p_sqlstate text, p_error text, p_detail text,
    p_hint text, p_context text, p_response text, p_retry_after_s int)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    made text := lockstep.fail(p_task_id, p_token, p_permanent, p_ran_us, p_sqlstate, p_error, p_detail, p_hint,
                               p_context);
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true);
    -- fail has written the row and so locked it: other sessions see this change together with that one.
    UPDATE lockstep.task t
    SET response = p_response,
        scheduled_for = CASE WHEN made = 'Error' THEN GREATEST(
                                 t.scheduled_for, clock_timestamp() + p_retry_after_s * interval '1 second')
                             ELSE t.scheduled_for END
    WHERE t.task_id = p_task_id;
    RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.action_fail(bigint, uuid, boolean, bigint, text, text, text, text, text, text, int)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.action_fail(bigint, uuid, boolean, bigint, text, text, text, text, text, text, int)
    TO lockstep_task;
