-- Several schedules of one job: its times are the union of theirs, and a time that more than one of them has is one
-- run.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');

\ir job.inc
-- Job name with one schedule for each of the JSON objects, all of them with p_next to come.
CREATE FUNCTION pg_temp.timed(name text, p_next timestamptz, schedules jsonb[], more jsonb DEFAULT '{}')
RETURNS void LANGUAGE sql AS $$
    SELECT lockstep.job_define(pg_temp.spec(name, more || jsonb_build_object('schedules',
        (SELECT jsonb_agg('{"kind": "interval", "every": "1h"}'::jsonb || jsonb_build_object('name', 's' || n) || s
                          ORDER BY n)
         FROM unnest(schedules) WITH ORDINALITY AS u (s, n)))));
    UPDATE lockstep.schedule s SET next_at = p_next, wake_at = p_next + lockstep.job_jitter(timed.name, s, p_next)
    WHERE s.is_active AND (s.rule).kind IS NOT NULL
      AND s.job_id = (SELECT j.job_id FROM lockstep.job j WHERE j.name = timed.name);
$$;
-- What one dispatch after the other does at p_now until nothing is due.
CREATE FUNCTION pg_temp.dispatch(p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    d record;
    said text;
BEGIN
    FOR i IN 1..50 LOOP
        SELECT * INTO d FROM lockstep.dispatch('test', p_now);
        EXIT WHEN d.verdict IS NULL;
        said := concat_ws(', ', said, concat_ws(' ', d.schedule, d.verdict,
            to_char(d.scheduled_for AT TIME ZONE 'UTC', 'HH24:MI'), CASE d.verdict WHEN 'error' THEN d.reason END));
    END LOOP;
    RETURN COALESCE(said, 'nothing');
END
$$;
CREATE FUNCTION pg_temp.gone(name text) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
    DELETE FROM lockstep.job j WHERE j.name = gone.name;
$$;

CREATE FUNCTION pg_temp.one(overlap text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    PERFORM pg_temp.timed('a', '2030-01-01 06:00Z', '{"{}", "{}"}', jsonb_build_object('overlap', overlap));
    said := pg_temp.dispatch('2030-01-01 06:00Z');
    said := said ||
    (SELECT format('; %s run; %s', count(DISTINCT run_id), max(reason) FILTER (WHERE outcome = 'skipped'))
     FROM lockstep.occurrence WHERE job = 'a');
    PERFORM pg_temp.gone('a');
    RETURN said;
END
$$;
SELECT is(pg_temp.one(overlap), 's1 fire 06:00, s2 skip 06:00; 1 run; schedule s1 has the same time',
          'two schedules with one time are one run, with overlap ' || overlap)
FROM unnest('{skip,allow,queue_one,cancel}'::text[]) AS overlap;

-- While a run of the job is open.
SELECT pg_temp.timed('a', '2030-01-01 06:00Z', '{"{}", "{}"}', '{"overlap": "queue_one"}'),
       pg_temp.dispatch('2030-01-01 06:00Z');
SELECT is(pg_temp.dispatch('2030-01-01 07:00Z'), 's1 queue 07:00, s2 skip 07:00',
          'a time that waits for the end of a run waits once');
SELECT pg_temp.ends('a');
SELECT is(pg_temp.dispatch('2030-01-01 07:30Z'), 's1 fire 07:00', 'and fires once');
SELECT pg_temp.gone('a');
SELECT pg_temp.timed('a', '2030-01-01 06:00Z', '{"{}", "{}"}', '{"overlap": "cancel"}'),
       pg_temp.dispatch('2030-01-01 06:00Z');
SELECT is(pg_temp.dispatch('2030-01-01 07:00Z'), 's1 cancel 07:00, s1 fire 07:00, s2 skip 07:00',
          'the run that a time has cancelled makes room for one');
SELECT pg_temp.gone('a');

-- queue_one: one time of the job waits, of whichever schedule.
SELECT pg_temp.timed('a', '2030-01-01 06:00Z', '{"{}", "{\"phase\": \"30m\"}"}', '{"overlap": "queue_one"}');
UPDATE lockstep.schedule SET next_at = '2030-01-01 06:30Z', wake_at = '2030-01-01 06:30Z' WHERE name = 's2';
SELECT is(concat_ws('; ', pg_temp.dispatch('2030-01-01 06:00Z'), pg_temp.dispatch('2030-01-01 06:30Z'),
                    pg_temp.dispatch('2030-01-01 07:00Z'), pg_temp.dispatch('2030-01-01 07:30Z')),
          's1 fire 06:00; s2 queue 06:30; s2 wait, s1 skip 07:00; s2 skip 07:30',
          'while the time of one schedule waits, those of the others are skipped');
SELECT matches((SELECT reason FROM lockstep.occurrence WHERE scheduled_for = '2030-01-01 07:00Z'),
               '^one of schedule s2 waits already: run .* of the job is', 'the occurrence names that schedule');
SELECT pg_temp.ends('a');
SELECT is(pg_temp.dispatch('2030-01-01 07:40Z'), 's2 fire 06:30', 'the one that waits fires');
SELECT pg_temp.ends('a');
SELECT is(pg_temp.dispatch('2030-01-01 08:00Z'), 's1 fire 08:00', 'then the times are in turn again');
SELECT pg_temp.gone('a');
SELECT pg_temp.timed('a', '2030-01-01 06:00Z',
                     '{"{}", "{\"misfire\": \"all\", \"catchup_window\": \"5h\", \"phase\": \"30m\"}"}',
                     '{"overlap": "queue_one"}');
UPDATE lockstep.schedule SET next_at = '2030-01-01 05:30Z', wake_at = '2030-01-01 05:30Z' WHERE name = 's2';
SELECT is(concat_ws('; ', pg_temp.dispatch('2030-01-01 06:00Z'), pg_temp.dispatch('2030-01-01 06:35Z')),
          's2 fire 05:30, s1 queue 06:00; s1 wait, s2 wait',
          'the backlog of another schedule waits, and skips nothing');
SELECT pg_temp.gone('a');

-- Late ones: the time of a schedule that is too old for one of them, and a backlog.
SELECT pg_temp.timed('a', '2030-01-01 06:00Z',
                     '{"{\"catchup_window\": \"4h\", \"every\": \"24h\"}", "{\"every\": \"24h\"}"}');
SELECT is(pg_temp.dispatch('2030-01-01 08:00Z'), 's1 fire 06:00, s2 skip 06:00',
          'a time that one schedule has fired late is not missed for the other');
SELECT pg_temp.gone('a');
SELECT pg_temp.timed('a', '2030-01-01 06:00Z', '{"{}", "{\"misfire\": \"all\", \"catchup_window\": \"5h\"}"}',
                     '{"overlap": "allow"}');
SELECT is(pg_temp.dispatch('2030-01-01 08:10Z'), 's1 fire 08:00, s2 fire 06:00, s2 fire 07:00, s2 skip 08:00',
          'of a backlog only what the other has not fired');
SELECT pg_temp.gone('a');
SELECT pg_temp.timed('a', '2030-01-01 06:00Z', '{"{\"jitter\": \"20m\"}", "{}"}', '{"overlap": "allow"}');
SELECT is(pg_temp.dispatch('2030-01-01 06:00Z') || ', ' || pg_temp.dispatch('2030-01-01 06:30Z'),
          's2 fire 06:00, s1 skip 06:00', 'and jitter makes no second run');
SELECT pg_temp.gone('a');

-- What is no equal time: another job's, a run by hand, the end of another job.
SELECT pg_temp.timed('a', '2030-01-01 06:00Z', '{"{}"}'), pg_temp.timed('b', '2030-01-01 06:00Z', '{"{}"}');
SELECT lockstep.job_define(pg_temp.spec('c', '{"overlap": "allow",
    "schedules": [{"name": "s1", "kind": "after", "job": "a"}, {"name": "s2", "kind": "after", "job": "b"}]}'));
SELECT is(pg_temp.dispatch('2030-01-01 06:00Z'), 's1 fire 06:00, s1 fire 06:00', 'two jobs fire at one time');
SELECT pg_temp.ends('a'), pg_temp.ends('b');
UPDATE lockstep.schedule SET wake_at = '2030-01-01 06:10Z', due_at = '2030-01-01 06:10Z' WHERE after_job IS NOT NULL;
SELECT is(pg_temp.dispatch('2030-01-01 06:10Z'), 's1 fire 06:00, s2 fire 06:00',
          'what follows two jobs runs after each of them');
SELECT pg_temp.gone('c');
SELECT pg_temp.gone('a'), pg_temp.gone('b');

-- The test button says so; forecast and backfill have the time once.
SELECT pg_temp.timed('a', '2041-01-01 06:00Z', '{"{\"every\": \"2h\"}", "{}", "{\"every\": \"3h\"}"}',
                     '{"overlap": "allow"}');
SELECT is((SELECT string_agg(concat_ws(' ', schedule, verdict, reason), ', ')
           FROM lockstep.job_test('a', '2041-01-01 06:00Z')),
    's1 fire it is due, s2 skip schedule s1 has the same time, s3 skip schedule s1 has the same time',
    'the test button says which schedule has the time');
SELECT is((SELECT string_agg(concat_ws(' ', schedule, to_char(at AT TIME ZONE 'UTC', 'HH24')), ', ' ORDER BY at)
           FROM lockstep.job_forecast('a', '2041-01-01Z', NULL, 7)),
    's1 00, s2 01, s1 02, s2 03, s1 04, s2 05, s1 06',
    'forecast: each time is there once, and as many as are asked for');
SELECT is((SELECT count(*) FROM lockstep.job_forecast('a', '2041-01-01Z', '2041-01-02Z', 1000)), 24::bigint,
          'the union of their times');
SELECT is((SELECT string_agg(concat_ws(' ', schedule_name, action, to_char(scheduled_for AT TIME ZONE 'UTC', 'HH24')),
                             ', ')
           FROM lockstep.job_backfill('a', '2020-01-01Z', '2020-01-01 04:00Z', NULL, 'allow', dry_run)),
    's1 fire 00, s2 fire 01, s1 fire 02, s2 fire 03', format('backfill has each time once, dry run %s', dry_run))
FROM unnest('{true,false}'::boolean[]) AS dry_run;
SELECT is((SELECT count(*) FROM lockstep.job_backfill('a', '2020-01-01Z', '2020-01-01 04:00Z', 's3', 'allow')),
          0::bigint, 'what one schedule has fired is not fired for another');
SELECT is((SELECT count(*) FROM lockstep.run r JOIN lockstep.job j USING (job_id) WHERE j.name = 'a'), 4::bigint,
          'four runs');
SELECT pg_temp.gone('a');

-- The test button, of several schedules at once.
SELECT setseed(0.6);
CREATE FUNCTION pg_temp.button(rounds int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz;
    said text;
    done text;
    d record;
    wrong bigint := 0;
BEGIN
    FOR i IN 1..rounds LOOP
        moment := '2031-01-01Z'::timestamptz + random() * interval '10 days';
        PERFORM pg_temp.timed('b', date_trunc('hour', moment - random() * interval '4 hours'),
            ARRAY(SELECT jsonb_build_object('misfire', ('{once,skip}'::text[])[1 + floor(random() * 2)],
                                            'catchup_window', ('{1m,1h,5h}'::text[])[1 + floor(random() * 3)],
                                            'jitter', ('{0s,10m}'::text[])[1 + floor(random() * 2)],
                                            'every', ('{1h,2h,3h}'::text[])[1 + floor(random() * 3)],
                                            'enabled', random() < 0.9)
                  FROM generate_series(1, 2 + i % 3)),
            jsonb_build_object('overlap', ('{skip,queue_one,allow,cancel}'::text[])[1 + floor(random() * 4)]));
        UPDATE lockstep.schedule s SET next_at = lockstep.rule_next(s.rule, s.next_at - interval '1 s')
        WHERE s.is_active;
        UPDATE lockstep.schedule s SET wake_at = s.next_at + lockstep.job_jitter('b', s, s.next_at) WHERE s.is_active;
        IF random() < 0.4 THEN
            INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, job_id)
            SELECT gen_random_uuid(), q.queue_id, 'stop', 'Running', j.job_id FROM lockstep.queue q, lockstep.job j;
        END IF;
        SELECT string_agg(concat_ws(' ', t.schedule, t.verdict, t.scheduled_for), ', ' ORDER BY t.schedule) INTO said
        FROM lockstep.job_test('b', moment) AS t WHERE t.verdict <> 'wait';
        done := NULL;
        FOR n IN 1..10 LOOP -- the first turn of each
            SELECT * INTO d FROM lockstep.dispatch('test', moment);
            EXIT WHEN d.verdict IS NULL;
            done := concat_ws(', ', done,
                              CASE WHEN d.verdict <> 'wait' AND COALESCE(strpos(done, d.schedule || ' '), 0) = 0
                                       THEN concat_ws(' ', d.schedule, d.verdict, d.scheduled_for) END);
        END LOOP;
        SELECT string_agg(t, ', ' ORDER BY t) INTO done FROM regexp_split_to_table(done, ', ') AS t;
        IF said IS DISTINCT FROM done THEN
            wrong := wrong + 1;
            RAISE EXCEPTION 'said % done % at %', said, done, moment;
        END IF;
        PERFORM pg_temp.gone('b');
        DELETE FROM lockstep.run;
    END LOOP;
    RETURN wrong;
END
$$;
SELECT is(pg_temp.button(300), 0::bigint,
          'in 300 random states of several schedules the test button says what the dispatcher does');

-- The server's time zones were updated: the coming times are computed again, and nothing fires by that. The next time
-- is as the rules before had it, an hour earlier.
SELECT lockstep.job_define(pg_temp.spec('moved',
    '{"schedules": [{"name": "s", "kind": "daily", "times": ["06:00"], "zone": "Europe/Warsaw"},
        {"name": "utc", "kind": "interval", "every": "1h"}]}'));
CREATE FUNCTION pg_temp.wrong(p_by interval DEFAULT '-1 h') RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.schedule s SET next_at = lockstep.rule_next(s.rule, now() + interval '2 days') + p_by,
                                   wake_at = lockstep.rule_next(s.rule, now() + interval '2 days') + p_by
    WHERE s.job_id = (SELECT job_id FROM lockstep.job WHERE name = 'moved') $$;
CREATE FUNCTION pg_temp.right_ones() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(s.name, ' ' ORDER BY s.name) FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
    WHERE j.name = 'moved' AND s.next_at = lockstep.rule_next(s.rule, now()) AND s.wake_at = s.next_at $$;
SELECT pg_temp.wrong(), lockstep.dispatch_begin();
SELECT is(pg_temp.right_ones(), NULL, 'while the rules of its zone are as they were, a next time stays');
UPDATE lockstep.zone SET print = 'of the rules before' WHERE zone = 'Europe/Warsaw';
SELECT count(*) AS occurrences FROM lockstep.job_occurrence \gset
SELECT lockstep.dispatch_begin();
SELECT is(pg_temp.right_ones(), 's',
          'when they have changed, the next times in that zone are computed again, and no others');
SELECT is((SELECT count(*) FROM lockstep.job_occurrence), :occurrences::bigint, 'and nothing fires');
SELECT matches((SELECT message FROM lockstep.job_log WHERE job = 'moved' AND source = 'schedule s'),
               '^the rules of time zone Europe/Warsaw have changed: its next time is .*Z, not .*Z$', 'the log says so');
SELECT pg_temp.wrong(), lockstep.dispatch_begin();
SELECT is(pg_temp.right_ones(), NULL, 'once');
UPDATE lockstep.zone SET print = 'of the rules before';
SELECT pg_temp.wrong('-9 days'), lockstep.dispatch_begin();
SELECT is(pg_temp.right_ones(), NULL, 'a time that has come stays: it is decided');
-- The fingerprint is of two years. When it gets a later beginning, the rules of days behind the former end may be other
-- ones since long.
UPDATE lockstep.zone SET since = CURRENT_DATE - 181, print = lockstep.zone_print(zone, CURRENT_DATE - 181);
SELECT pg_temp.wrong(), lockstep.dispatch_begin();
SELECT is(pg_temp.right_ones(), 's', 'a next time is computed again when the fingerprint is of later years');
SELECT is((SELECT array_agg(DISTINCT since) FROM lockstep.zone), ARRAY[CURRENT_DATE], 'which begin today');
-- It fired at that time, and then the clock was set back.
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, dispatcher)
SELECT s.job_id, s.schedule_id, lockstep.rule_next(s.rule, now()), 'fired', 'schedule s', 'd'
FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'moved' AND s.name = 's';
SELECT pg_temp.wrong('0');
UPDATE lockstep.zone SET since = CURRENT_DATE - 181, print = lockstep.zone_print(zone, CURRENT_DATE - 181);
SELECT lockstep.dispatch_begin();
SELECT is(pg_temp.right_ones(), NULL, 'a time that has fired is not its next time again');
SELECT isnt(lockstep.zone_print('EST5EDT,M3.2.0/3,M11.1.0/2', '2025-01-01'),
            lockstep.zone_print('EST5EDT,M3.2.0/2,M11.1.0/2', '2025-01-01'),
            'a change of the clock at another hour of the same day is another fingerprint');
SELECT is(lockstep.zone_print('Europe/Warsaw', '2025-01-01') = lockstep.zone_print('Europe/Berlin', '2025-01-01'),
          true, 'zones with the same rules have the same fingerprint');
SELECT is(lockstep.zone_print(other, '2025-01-01') = lockstep.zone_print('Europe/Warsaw', '2025-01-01'), false,
          'others have another one: ' || other)
FROM unnest('{UTC,Europe/London,Africa/Lagos,America/New_York,Africa/Cairo}'::text[]) AS other;
CREATE FUNCTION pg_temp.printed() RETURNS text LANGUAGE sql
    SET TimeZone = 'America/New_York' SET IntervalStyle = 'iso_8601'
    AS $$ SELECT lockstep.zone_print('America/St_Johns', '2005-01-01') $$;
SELECT is(pg_temp.printed(), lockstep.zone_print('America/St_Johns', '2005-01-01'),
          'a fingerprint does not depend on settings of the session');
DELETE FROM lockstep.job WHERE name = 'moved';
-- What the test button says for people.
CREATE FUNCTION pg_temp.says(p_at timestamptz)
RETURNS text LANGUAGE sql AS $$ SELECT reason FROM lockstep.job_test('says', p_at) $$;
SELECT lockstep.job_define(pg_temp.spec('says',
    '{"schedules": [{"name": "s", "kind": "cron", "expr": "0 6 * * *", "zone": "Europe/Warsaw"}]}'));
UPDATE lockstep.schedule SET next_at = '2040-03-02 05:00Z', wake_at = '2040-03-02 05:00Z'
WHERE job_id = (SELECT job_id FROM lockstep.job WHERE name = 'says');
SELECT is(pg_temp.says(at::timestamptz), 'next run not due yet: 2040-03-02 06:00:00 Europe/Warsaw, in ' || away,
          'the next run is in ' || away)
FROM (VALUES ('2040-03-02 01:48Z', '3 h 12 min'), ('2040-03-02 04:00Z', '1 h'), ('2040-03-02 04:58:59.5Z', '1 min'),
             ('2040-03-02 04:58:30Z', '1 min 30 s'), ('2040-03-02 04:59:59.4Z', 'less than 1 s'),
             ('2040-03-02 04:59:18Z', '42 s'), ('2040-02-28 02:00Z', '3 d 3 h')) AS t (at, away);
UPDATE lockstep.queue SET paused = true, paused_at = clock_timestamp() WHERE name = 'q';
SELECT is(pg_temp.says('2040-03-02 05:00Z'), 'it is due; queue q is paused: a run that fires waits in it',
          'it says that the queue is paused');
SELECT is((SELECT would_fire FROM lockstep.job_test('says', '2040-03-02 05:00Z')), true, 'and fires all the same');
SELECT is((SELECT format('%s %s', verdict, reason) FROM lockstep.dispatch('test', '2040-03-02 05:00Z')),
          'fire it is due', 'as the dispatcher does');
UPDATE lockstep.queue SET paused = false, paused_at = NULL, halted_reason = 'no topic' WHERE name = 'q';
SELECT matches(pg_temp.says('2040-03-02 05:01Z'), '; queue q is halted: a run that fires waits in it$', 'or halted');
SELECT * FROM finish();
ROLLBACK;
