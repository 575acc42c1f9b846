-- The monitor p_who was asked to end. One that had receivers is remembered, because they get nothing now; another one
-- is missed by no one, and is forgotten.
CREATE OR REPLACE FUNCTION lockstep.monitor_ended(p_who text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM lockstep.monitor_process p
    WHERE p.who = p_who AND NOT EXISTS (SELECT FROM lockstep.monitor_receiver r WHERE r.who = p_who);
    UPDATE lockstep.monitor_process p SET ended_at = clock_timestamp() WHERE p.who = p_who;
$$;
REVOKE EXECUTE ON FUNCTION lockstep.monitor_ended(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.monitor_ended(text) TO lockstep_operator;
