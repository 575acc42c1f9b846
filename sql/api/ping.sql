-- A watch reports: the work outside Lockstep has ended well, or has failed. The report answers the latest time of the
-- watch that has passed; a report before its time is recorded and answers none.
CREATE OR REPLACE FUNCTION lockstep.ping(name text, status text DEFAULT 'ok', detail text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    MOST CONSTANT int := 100000;
    own CONSTANT lockstep.job := lockstep.job_named(ping.name, NULL, true);
    now CONSTANT timestamptz := clock_timestamp();
    source CONSTANT text := 'ping by ' || lockstep.actor();
    ended CONSTANT text := CASE ping.status WHEN 'ok' THEN 'Completed' WHEN 'fail' THEN 'Failed' END;
    one lockstep.schedule;
    at timestamptz;
    following timestamptz;
    passed timestamptz[];
    missed int;
    answered boolean := false;
BEGIN
    IF NOT own.is_watch THEN
        RAISE EXCEPTION 'job % is no watch: its runs are known', own.name
            USING ERRCODE = 'LS002', HINT = format('lockstep job show %s', own.name);
    ELSIF ended IS NULL THEN
        PERFORM lockstep.job_refuse('status', format('"%s" is not known', left(ping.status, 64)), 'write ok or fail');
    END IF;
    FOR one IN SELECT s.* FROM lockstep.schedule s WHERE s.job_id = own.job_id AND s.is_active AND s.next_at <= now LOOP
        missed := 0;
        at := one.next_at;
        BEGIN
            passed := lockstep.rule_walk(one.rule, at, now + interval '1 microsecond', MOST);
            missed := cardinality(passed);
            at := COALESCE(passed[missed], at);
            following := lockstep.rule_next(one.rule, at);
        EXCEPTION
            -- its zone is gone, which job_health names: the report answers the time that is known, and the one who
            -- reports is not at fault
            WHEN OTHERS THEN
                RAISE WARNING 'job %, schedule %: %', own.name, one.name, SQLERRM;
                missed := 0;
                at := one.next_at;
                following := at;
        END;
        INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, decided_at, outcome, source, reason,
                                             missed_from, missed_count, dispatcher, status, ended_at)
        VALUES (own.job_id, one.schedule_id, at, now, 'fired', source, left(ping.detail, 2000),
                CASE WHEN missed > 0 THEN one.next_at END, missed, source, ended, now)
        ON CONFLICT (schedule_id, scheduled_for) DO NOTHING;
        answered := answered OR FOUND OR following > at;
        UPDATE lockstep.schedule s SET next_at = following WHERE s.schedule_id = one.schedule_id;
    END LOOP;
    IF NOT answered THEN
        INSERT INTO lockstep.job_occurrence (job_id, scheduled_for, decided_at, outcome, source, reason, dispatcher,
                                             status, ended_at)
        VALUES (own.job_id, now, now, 'fired', source, left(ping.detail, 2000), source, ended, now);
    END IF;
    PERFORM lockstep.job_note(own.name, CASE WHEN ended = 'Completed' THEN 'completed' ELSE 'error' END, source,
                              left(ping.detail, 2000));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.ping(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.ping(text, text, text) TO lockstep_producer, lockstep_operator, lockstep_worker;
