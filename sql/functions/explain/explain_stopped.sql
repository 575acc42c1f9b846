-- The reasons that stop a queue until an operator acts: a halt, a pause, executors that do not work. This is the first
-- part of explain_queue, and all that the console's overview says of a queue. Its plans are made once, as those of
-- explain_queue.
CREATE OR REPLACE FUNCTION lockstep.explain_stopped(p_queue_id int) RETURNS SETOF lockstep.explanation
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY SELECT * FROM lockstep.explain_halted(p_queue_id);
    IF NOT lockstep.explain_blind() THEN
        RETURN QUERY SELECT * FROM lockstep.explain_executors(p_queue_id);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_stopped(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_stopped(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
