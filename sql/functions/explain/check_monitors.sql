-- The findings of check_list about monitors: each one that looks; or, when none does, the last one, and the notices
-- that are not sent for it. Nothing when none is known: there was none, or none has had a receiver.
CREATE OR REPLACE FUNCTION lockstep.check_monitors() RETURNS TABLE (grade text, finding text, hint text)
LANGUAGE sql STABLE AS $$
    SELECT 'ok', pg_catalog.format('%s, login %s, looks every %s since %s; %s', m.monitor, m.login, m.every,
               lockstep.job_time(pg_catalog.date_trunc('second', m.started_at)),
               COALESCE('it sends to ' || NULLIF(pg_catalog.array_to_string(m.receivers, ', '), ''),
                        'it sends to no receiver')), NULL::text
    FROM lockstep.monitor_status m WHERE m.is_alive
    UNION ALL
    SELECT CASE WHEN r.receivers IS NULL AND a.open = 0 THEN 'warn' ELSE 'FAIL' END,
           pg_catalog.concat_ws('; ', pg_catalog.format('none has looked since %s: %s, login %s, %s',
               lockstep.job_time(pg_catalog.date_trunc('second', m.looked_at)), m.monitor, m.login,
               CASE WHEN m.ended_at IS NULL THEN 'does not look any more' ELSE 'was ended' END),
               'nothing is sent to ' || r.receivers,
               CASE WHEN r.undelivered > 0 THEN lockstep.counted(r.undelivered, 'notice') || ' not delivered' END,
               CASE WHEN a.open > 0 THEN lockstep.counted(a.open, 'alert') || ' open' END),
           'Start it (lockstep monitor run); if it runs, read in its log why it does not reach the database.'
    FROM (SELECT o.* FROM lockstep.monitor_status o ORDER BY o.looked_at DESC LIMIT 1) AS m
    CROSS JOIN (SELECT pg_catalog.string_agg(b.receiver, ', ' ORDER BY b.receiver) AS receivers,
                       pg_catalog.sum(b.undelivered)::bigint AS undelivered FROM lockstep.alert_receiver b) AS r
    CROSS JOIN (SELECT pg_catalog.count(*) AS open FROM lockstep.alert b WHERE b.closed_at IS NULL) AS a
    WHERE NOT EXISTS (SELECT FROM lockstep.monitor_status o WHERE o.is_alive)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.check_monitors() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.check_monitors() TO lockstep_executor, lockstep_operator, lockstep_monitor;
