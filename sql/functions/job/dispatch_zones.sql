-- Computes future times again whose time zone has other rules since the time zones of the server were updated, and,
-- twice a year, those of every zone: its fingerprint is of two years. No schedule fires by that: a time that has come,
-- or that another session is deciding or changing, stays unchanged.
CREATE OR REPLACE FUNCTION lockstep.dispatch_zones() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
    known lockstep.zone;
    is_other boolean;
    one record;
BEGIN
    FOR known IN SELECT z.* FROM lockstep.zone z ORDER BY z.zone FOR UPDATE SKIP LOCKED LOOP
        BEGIN
            -- A fingerprint that begins later is of later years: nothing has compared their rules before.
            is_other := known.since < CURRENT_DATE - 180
                OR lockstep.zone_print(known.zone, known.since) <> known.print;
            FOR one IN
                SELECT s.schedule_id, s.name, s.next_at, j.name AS job, lockstep.rule_next(s.rule, now) AS next,
                       s AS schedule
                FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
                WHERE is_other AND (s.rule).zone = known.zone AND s.is_active AND s.next_at > now
                  AND s.asked_until IS NULL
                ORDER BY s.schedule_id FOR NO KEY UPDATE OF s SKIP LOCKED
            LOOP
                CONTINUE WHEN one.next IS NOT DISTINCT FROM one.next_at
                              -- fired before the clock was set back, and no other rule of the zone
                              OR lockstep.job_decided(one.schedule, one.next);
                UPDATE lockstep.schedule s
                SET next_at = one.next,
                    wake_at = CASE WHEN s.wake_at IS NOT NULL
                                       THEN one.next + lockstep.job_jitter(one.job, one.schedule, one.next) END
                WHERE s.schedule_id = one.schedule_id;
                PERFORM lockstep.job_note(
                    one.job, 'changed', 'schedule ' || one.name,
                    pg_catalog.format('the rules of time zone %s have changed: its next time is %s, not %s',
                        known.zone, COALESCE(lockstep.job_time(one.next), 'never'), lockstep.job_time(one.next_at)));
            END LOOP;
            IF is_other THEN
                UPDATE lockstep.zone z SET since = CURRENT_DATE, print = lockstep.zone_print(known.zone, CURRENT_DATE)
                WHERE z.zone = known.zone;
            END IF;
        EXCEPTION
            WHEN invalid_parameter_value THEN -- the zone is gone: its schedules are failed (rule_fault)
                NULL;
        END;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_zones() FROM PUBLIC;
