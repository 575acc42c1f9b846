-- The monitor p_who looks: monitor_process remembers it, so that others see when it looks no more. p_begins: it has
-- just started. Its beginning forgets those that were asked to end, a dead one of the same host, which it follows, and
-- any that died a week ago. Returns whether it was known: to one that was not, its receivers are to be added.
CREATE OR REPLACE FUNCTION lockstep.monitor_seen(p_who text, p_host text, p_every interval, p_begins boolean)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    KEPT CONSTANT interval := interval '7 days';
    now CONSTANT timestamptz := clock_timestamp();
BEGIN
    UPDATE lockstep.monitor_process p SET looked_at = now, every = p_every, ended_at = NULL
    WHERE p.who = p_who AND NOT p_begins;
    IF FOUND THEN
        RETURN true;
    END IF;
    DELETE FROM lockstep.monitor_process p
    WHERE p.who = p_who OR p.ended_at IS NOT NULL
       OR (NOT lockstep.monitor_lives(p.looked_at, p.every, p.ended_at)
           AND (p.host = p_host OR p.looked_at < now - KEPT));
    INSERT INTO lockstep.monitor_process (who, host, login, started_at, looked_at, every)
    VALUES (p_who, p_host, session_user, now, now, p_every);
    RETURN false;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.monitor_seen(text, text, interval, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.monitor_seen(text, text, interval, boolean) TO lockstep_operator;
