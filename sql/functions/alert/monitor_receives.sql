-- The monitor p_who sends to [alert:p_receiver]: which incidents, so that those that no monitor sends
-- can be counted.
CREATE OR REPLACE FUNCTION lockstep.monitor_receives(p_who text, p_receiver text, p_jobs text[], p_kinds text[],
    p_hold interval)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO lockstep.monitor_receiver (who, receiver, jobs, kinds, hold)
    VALUES (p_who, p_receiver, p_jobs, p_kinds, p_hold)
    ON CONFLICT (who, receiver) DO UPDATE SET jobs = p_jobs, kinds = p_kinds, hold = p_hold
$$;
REVOKE EXECUTE ON FUNCTION lockstep.monitor_receives(text, text, text[], text[], interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.monitor_receives(text, text, text[], text[], interval) TO lockstep_operator;
