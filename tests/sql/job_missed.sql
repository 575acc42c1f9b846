-- The times of a schedule that passed undecided: the decision skips them at once, and finds what stepping from each
-- time to the next one finds, in random states of random rules, also where the clock changes. In a copy of the database
-- they stay undecided.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');
CREATE TABLE public.staging (id int);
GRANT SELECT ON public.staging TO lockstep_task;

\ir job.inc
-- The job has one schedule of each rule, numbered.
CREATE TEMP TABLE rules AS
SELECT row_number() OVER () AS no, spec || jsonb_build_object('zone', zone) AS spec
FROM unnest(ARRAY['{"kind": "cron", "expr": "*/20 * * * *"}', '{"kind": "cron", "expr": "15 2,3 * * *"}',
                  '{"kind": "cron", "expr": "*/5 9 */2 * 1"}',
                  '{"kind": "daily", "times": ["00:00", "02:30", "23:59:59"]}',
                  '{"kind": "weekly", "days": ["SUN"], "times": ["02:30"]}']::jsonb[]) AS spec,
     unnest('{UTC,Europe/Warsaw,Australia/Lord_Howe,America/Havana}'::text[]) AS zone
UNION ALL SELECT 100, '{"kind": "interval", "every": "37m"}';
SELECT lockstep.job_define(pg_temp.spec('j', jsonb_build_object('schedules',
    (SELECT jsonb_agg(r.spec || jsonb_build_object('name', 's' || r.no)) FROM rules r))));

-- What the decision says of the past, by rule_next alone: scheduled_for, how many before it, the next one.
CREATE FUNCTION pg_temp.stepped(s lockstep.schedule, p_now timestamptz, p_most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    oldest timestamptz := p_now - CASE WHEN s.misfire = 'skip' THEN LEAST(s.catchup_window, interval '1 minute')
                                       ELSE s.catchup_window END;
    at timestamptz := s.next_at;
    following timestamptz := lockstep.rule_next(s.rule, at);
    missed int := 0;
BEGIN
    WHILE following <= p_now AND (s.misfire <> 'all' OR at < oldest) AND missed < p_most LOOP
        missed := missed + 1;
        at := following;
        following := lockstep.rule_next(s.rule, at);
    END LOOP;
    RETURN format('%s after %s from %s', at, missed, CASE WHEN missed > 0 THEN s.next_at END);
END
$$;
SELECT setseed(0.31);
CREATE FUNCTION pg_temp.differing(rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    own lockstep.job;
    s lockstep.schedule;
    moment timestamptz;
    d record;
    said text;
BEGIN
    SELECT j.* INTO own FROM lockstep.job j WHERE j.name = 'j';
    FOR i IN 1..rounds LOOP
        SELECT b.* INTO s FROM lockstep.schedule b WHERE b.job_id = own.job_id ORDER BY random() LIMIT 1;
        moment := CASE floor(random() * 4) WHEN 0 THEN '2041-03-31Z'::timestamptz WHEN 1 THEN '2024-11-03 05:00Z'
                                           WHEN 2 THEN '2024-04-06 15:00Z' ELSE '2030-06-01Z' END
                      + (random() * 4 - 3) * interval '1 day';
        s.next_at := lockstep.rule_next(s.rule, moment);
        s.wake_at := s.next_at;
        s.misfire := ('{once,all,skip}'::text[])[1 + floor(random() * 3)];
        s.catchup_window := ('{1m,1h,1d,30d}'::interval[])[1 + floor(random() * 4)];
        -- on a time of the rule, or behind one
        moment := s.next_at + random() * random() * interval '9 days';
        IF random() < 0.3 THEN
            moment := COALESCE(lockstep.rule_next(s.rule, moment), moment);
        END IF;
        d := lockstep.job_decide(own, s, moment);
        said := format('%s after %s from %s', d.scheduled_for, d.missed_count, d.missed_from);
        IF said <> pg_temp.stepped(s, moment, 5000) THEN
            RETURN format('%s at %s, misfire %s within %s: %s, not %s', s.name, moment, s.misfire, s.catchup_window,
                          said, pg_temp.stepped(s, moment, 5000));
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
SELECT is(pg_temp.differing(300), NULL, 'in 300 random states the decision finds what single steps find');

-- A copy of the database, until its server is accepted.
SELECT lockstep.job_delete('j');
SELECT lockstep.job_define(pg_temp.spec('hour', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}')),
       lockstep.job_define(pg_temp.spec('rows',
    '{"trigger": {"on": "public.staging", "pending": "true", "threshold": 1}}'));
UPDATE lockstep.schedule SET next_at = '2030-01-01 05:00Z', wake_at = '2030-01-01 05:00Z';
CREATE FUNCTION pg_temp.turn(p_now timestamptz) RETURNS text LANGUAGE sql AS $$
    SELECT COALESCE(string_agg(d.job || ' ' || d.verdict, ', ' ORDER BY d.job), 'nothing')
    FROM (SELECT b.job, b.verdict FROM lockstep.dispatch('test', p_now, p_most => 9) AS b
          UNION ALL SELECT b.job, b.verdict FROM lockstep.dispatch('test', p_now, p_most => 9) AS b) AS d
    WHERE d.verdict IS NOT NULL
$$;
CREATE FUNCTION pg_temp.is_copy() RETURNS boolean LANGUAGE sql AS $$
    SELECT lockstep.queue_is_copy(q) FROM lockstep.queue q
$$;
SELECT is(pg_temp.is_copy(), false, 'a queue that was not worked on yet is no copy');
UPDATE lockstep.queue SET server_system = (SELECT c.system_identifier FROM pg_control_system() c), server_database = 1;
SELECT is(pg_temp.is_copy(), true, 'in another database it is one');
SELECT is(pg_temp.turn('2030-01-01 05:00:10Z'), 'hour wait, rows wait', 'nothing fires, and no table is looked at');
SELECT is((SELECT t.reason FROM lockstep.job_test('hour', '2030-01-01 05:00:10Z') AS t),
          'this is a copy of the database: the schedule waits until the server is accepted', 'job test says why');
SELECT is((SELECT count(*) FROM lockstep.job_occurrence), 0::bigint, 'the time is undecided');
UPDATE lockstep.queue SET server_database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database());
SELECT is(pg_temp.is_copy(), false, 'the server that it was worked on is no copy');
SELECT is(pg_temp.turn('2030-01-01 05:00:20Z'), 'nothing', 'a schedule that waits is decided once a minute');
SELECT is(pg_temp.turn('2030-01-01 05:01:10Z'), 'hour fire, rows look', 'then what has been due fires');
UPDATE lockstep.queue SET halted_reason = 'other_server';
SELECT is(pg_temp.is_copy(), true, 'a queue that an executor has halted for its server is one');
SELECT * FROM finish();
ROLLBACK;
