-- One look at all jobs: opens and closes incidents, from lockstep.job_health alone. A problem opens an incident when
-- two looks in a row have seen it, and the incident closes when two looks in a row have not. p_by looks every p_every;
-- a look of another monitor that is not older counts, so any number of monitors may run. When no monitor has looked for
-- long, or the clock was set, that itself is an incident (kind absent), and no other incident is opened or closed for a
-- minute, because executors and dispatchers may have to catch up, too. In that minute schedules that have their times
-- by the clock before get them by the clock as it is now (lockstep.job_set_back). A look waits for no one: an incident
-- whose row another session has locked is left to the next look.
--   looked    false: another look was made just now, or is being made
--   opened, closed    incidents of jobs
--   absence    NULL: there was none
--   held      such an incident, and the session, when the look before did not say the same
CREATE OR REPLACE FUNCTION lockstep.monitor_look(p_by text, p_every interval, p_now timestamptz DEFAULT NULL,
    OUT looked boolean, OUT opened int, OUT closed int, OUT absence text, OUT held text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    LEAST_ABSENCE CONSTANT interval := interval '2 minutes';
    GRACE CONSTANT interval := interval '1 minute';
    STEP CONSTANT interval := interval '10 seconds'; -- a clock may be set back by less
    now CONSTANT timestamptz := COALESCE(p_now, clock_timestamp());
    last lockstep.monitor;
    free bigint[];
    said text;
BEGIN
    looked := false;
    opened := 0;
    closed := 0;
    -- one look at a time: each counts those before it
    SELECT m.* INTO last FROM lockstep.monitor m FOR UPDATE SKIP LOCKED;
    IF NOT FOUND OR (last.looked_at > now - p_every * 0.9 AND last.looked_at < now + STEP) THEN
        RETURN;
    END IF;
    looked := true;
    IF last.looked_at >= now + STEP THEN
        absence := format('the clock of the database was set back, from %s to %s',
                          lockstep.job_time(date_trunc('second', last.looked_at)),
                          lockstep.job_time(date_trunc('second', now)));
    ELSIF last.looked_at < now - GREATEST(LEAST_ABSENCE, 3 * last.every, 3 * (
              -- one that looks more often was ended, maybe: those that have been there since look as often as they say
              SELECT max(p.every) FROM lockstep.monitor_process p
              WHERE p.ended_at IS NULL AND p.started_at <= last.looked_at
                AND p.looked_at >= now - GREATEST(LEAST_ABSENCE, 3 * p.every))) THEN
        absence := format('no monitor looked between %s and %s, or the clock was set',
                          lockstep.job_time(date_trunc('second', last.looked_at)),
                          lockstep.job_time(date_trunc('second', now)));
    END IF;
    IF absence IS NOT NULL AND NOT EXISTS (SELECT FROM lockstep.job) THEN
        absence := NULL;
    END IF;
    free := ARRAY(SELECT a.alert_id FROM lockstep.job_alert a
                  WHERE a.closed_at IS NULL ORDER BY a.alert_id FOR NO KEY UPDATE SKIP LOCKED);
    said := lockstep.alert_held(free);
    held := NULLIF(said, last.held);
    UPDATE lockstep.monitor m
    SET looked_at = now, looked_by = p_by, every = p_every, held = said,
        quiet_until = CASE WHEN absence IS NOT NULL THEN now + GRACE
                           WHEN m.quiet_until > now AND m.quiet_until <= now + GRACE THEN m.quiet_until END
    RETURNING m.* INTO last;
    IF absence IS NOT NULL THEN
        UPDATE lockstep.job_alert a SET last_seen_at = now, text = absence
        WHERE a.alert_id = ANY (free) AND a.kind = 'absent';
        -- without ON CONFLICT: that would wait for a session that has the row of such an incident
        INSERT INTO lockstep.job_alert (job, kind, since, seen_at, last_seen_at, opened_at, text)
        SELECT '', 'absent', now, now, now, now, absence
        WHERE NOT EXISTS (SELECT FROM lockstep.job_alert a WHERE a.kind = 'absent' AND a.closed_at IS NULL);
    END IF;
    IF last.quiet_until IS NOT NULL THEN
        PERFORM lockstep.job_set_back(now);
    ELSE
        UPDATE lockstep.job_alert a SET closed_at = now, ended = 'recovered'
        WHERE a.alert_id = ANY (free) AND a.kind = 'absent';
        SELECT c.opened, c.closed INTO opened, closed FROM lockstep.monitor_compare(now, free) AS c;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.monitor_look(text, interval, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.monitor_look(text, interval, timestamptz) TO lockstep_executor, lockstep_operator;
