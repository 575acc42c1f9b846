-- Jobs in the hands of operators: backfill, schedules one by one, files that turn a chain round, queues that others
-- need. tests/sql/job.sql has the rest.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't'), ('other', 'u');
\ir job.inc
CREATE FUNCTION pg_temp.gone(VARIADIC names text[]) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
    DELETE FROM lockstep.schedule;
    DELETE FROM lockstep.job WHERE name = ANY (names);
$$;
-- What a backfill of 2020-01-01 does, in short.
CREATE FUNCTION pg_temp.fill(name text, first text, until text, overlap text DEFAULT 'allow',
                             schedule text DEFAULT NULL, dry boolean DEFAULT false)
RETURNS text LANGUAGE sql AS $$
    SELECT COALESCE(string_agg(b.action || ' ' || to_char(b.scheduled_for AT TIME ZONE 'UTC', 'HH24:MI'), ', '
                               ORDER BY b.scheduled_for, b.schedule_name),
                    'nothing')
    FROM lockstep.job_backfill(name, ('2020-01-01 ' || first || 'Z')::timestamptz,
                               ('2020-01-01 ' || until || 'Z')::timestamptz, schedule, overlap, dry)
        AS b
$$;

-- Backfill.
SELECT lockstep.job_define(pg_temp.spec('b', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'));
SELECT is(pg_temp.fill('b', '06:00', '09:00', dry => true), 'fire 06:00, fire 07:00, fire 08:00',
          'a dry run says what would fire; the end is not part of the range');
SELECT is((SELECT count(*) FROM lockstep.run), 0::bigint, 'and fires nothing');
SELECT is(pg_temp.fill('b', '06:00', '09:00'), 'fire 06:00, fire 07:00, fire 08:00',
          'allow: all times of the range fire at once, oldest first');
SELECT is(pg_temp.fill('b', '05:00', '10:00'), 'fire 05:00, fire 09:00',
          'a second one fires what has not fired, and nothing twice');
SELECT is((SELECT format('%s %s %s', count(DISTINCT run_id), min(source) = 'backfill by ' || session_user,
                         bool_and(run_id = lockstep.job_run_id(s.schedule_uid, o.scheduled_for)))
    FROM lockstep.job_occurrence o JOIN lockstep.schedule s USING (schedule_id)), '5 t t',
          'each with the id that its time has, and says who filled it');
SELECT is((SELECT string_agg(DISTINCT started_by, ', ') FROM lockstep.run), 'backfill by ' || session_user,
          'and so does its run');
SELECT is((SELECT messages[1]::jsonb ->> 'run_name' FROM lockstep.enqueued LIMIT 1), 'b',
          'its messages are in the outbox');
SELECT is((SELECT next_at > now() FROM lockstep.schedule), true, 'the schedule has its next time as before');
SELECT pg_temp.ends('b');
SELECT is(pg_temp.fill('b', '10:00', '13:00', 'queue_one'), 'fire 10:00, wait 11:00, wait 12:00',
          'queue_one: one, the others wait');
SELECT is(pg_temp.fill('b', '10:00', '13:00', 'queue_one'), 'wait 11:00, wait 12:00', 'while its run is open');
SELECT pg_temp.ends('b');
SELECT is(pg_temp.fill('b', '10:00', '13:00', 'queue_one'), 'fire 11:00, wait 12:00', 'the next one when it has ended');
SELECT pg_temp.ends('b');
SELECT is(pg_temp.fill('b', '12:00', '15:00', 'skip'), 'fire 12:00, skip 13:00, skip 14:00',
          'skip: what meets an open run is left');
SELECT pg_temp.ends('b');
SELECT is(pg_temp.fill('b', '12:00', '15:00', 'skip', dry => true), 'fire 13:00, skip 14:00', 'and so a dry run says');
-- A time that was skipped, missed or an error is fired; one that is still to be decided is the dispatcher's.
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, dispatcher)
SELECT job_id, schedule_id, ('2020-01-01 15:00Z'::timestamptz + n * interval '1 h'),
       ('{skipped,missed,error}'::text[])[n + 1], 's', 'd'
FROM lockstep.schedule, generate_series(0, 2) AS n;
SELECT is(pg_temp.fill('b', '15:00', '18:00'), 'fire 15:00, fire 16:00, fire 17:00',
          'what was skipped, missed or an error is fired');
SELECT is((SELECT string_agg(DISTINCT outcome, ' ') FROM lockstep.job_occurrence
           WHERE scheduled_for >= '2020-01-01 15:00Z'),
          'fired', 'and is fired in the history, too');
UPDATE lockstep.schedule
SET next_at = '2020-01-01 20:00Z', wake_at = '2020-01-01 20:00Z', queued_for = '2020-01-01 18:00Z';
SELECT is(pg_temp.fill('b', '18:00', '21:00'), 'leave 18:00, fire 19:00, leave 20:00',
          'what waits, and what has yet to be decided, is left to the dispatcher');
SELECT pg_temp.ends('b');
UPDATE lockstep.schedule SET wake_at = '2020-01-01 20:00Z';
SELECT is((SELECT string_agg(d.verdict || to_char(d.scheduled_for AT TIME ZONE 'UTC', ' HH24:MI'), ', ')
           FROM generate_series(1, 2) AS n,
                lockstep.dispatch('test', '2020-01-01 20:00Z'::timestamptz + n * interval '1 s') AS d),
    'fire 18:00, skip 20:00', 'which meets nothing of the backfill');
SELECT is((SELECT count(o.lateness) || ' of ' || (count(*) > 10) FROM lockstep.occurrence o
           WHERE o.job = 'b' AND o.outcome = 'fired' AND o.source LIKE 'backfill by %'), '0 of true',
          'a backfill is not late');
SELECT pg_temp.gone('b');
SELECT lockstep.job_define(pg_temp.spec('b', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'));
SELECT pg_temp.fill('b', '06:00', '07:00'), pg_temp.ends('b');
SELECT is((SELECT state FROM lockstep.job_health WHERE job = 'b'), 'ok', 'a time that was filled is not late');
SELECT pg_temp.gone('b');
-- Several schedules, disabled ones, clocks.
SELECT lockstep.job_define(pg_temp.spec('b',
    '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"},
                    {"name": "off", "kind": "interval", "every": "30m", "enabled": false},
    {"name": "warsaw", "kind": "daily", "times": ["08:30"], "zone": "Europe/Warsaw"}]}'));
SELECT is(pg_temp.fill('b', '07:00', '08:30', dry => true), 'fire 07:00, fire 07:30, fire 08:00',
          'the schedules that are enabled, each in its zone');
SELECT is(pg_temp.fill('b', '07:00', '08:30', schedule => 'off', dry => true), 'fire 07:00, fire 07:30, fire 08:00',
          'one that is named may be disabled');
SELECT pg_temp.gone('b');
SELECT lockstep.job_define(pg_temp.spec('b',
    '{"enabled": false, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'));
SELECT is(pg_temp.fill('b', '07:00', '09:00'), 'fire 07:00, fire 08:00',
          'a job that is disabled can be filled, as it can be run by hand');
SELECT pg_temp.gone('b');
-- A schedule that was replaced by one of another name, as the error about a rename advises.
SELECT lockstep.job_define(pg_temp.spec('b', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'));
SELECT pg_temp.fill('b', '06:00', '08:00'), pg_temp.ends('b'),
       lockstep.schedule_add('b', '{"name": "t", "kind": "interval", "every": "1h"}'),
       lockstep.schedule_remove('b', 's');
SELECT is(pg_temp.fill('b', '06:00', '09:00'), 'fire 08:00',
          'a time that a schedule has fired which was removed since is left alone');
INSERT INTO lockstep.job_occurrence (job_id, scheduled_for, outcome, source, dispatcher)
SELECT j.job_id, '2020-01-01 10:00Z'::timestamptz + u.n * interval '1 h', 'fired', u.source, 'd'
FROM lockstep.job j,
     unnest(ARRAY['schedule s', 'misfire of schedule s, for 3', 'after load (Completed)', 'manual by x',
                  'trigger: 3 rows (threshold 1)']) WITH ORDINALITY AS u (source, n)
WHERE j.name = 'b';
SELECT is(pg_temp.fill('b', '11:00', '16:00'), 'fire 13:00, fire 14:00, fire 15:00',
          'in time or late; the end of another job, a run by hand and rows that wait are no times of a schedule');
SELECT pg_temp.gone('b');
-- Times whose occurrences are kept no longer: their runs are known, and nothing would run again.
SELECT lockstep.job_define(pg_temp.spec('b', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'));
SELECT pg_temp.fill('b', '06:00', '08:00'), pg_temp.ends('b');
DELETE FROM lockstep.job_occurrence;
SELECT lockstep.job_define(pg_temp.spec('behind', '{"schedules": [{"name": "s", "kind": "after", "job": "b"}]}'));
SELECT is(pg_temp.fill('b', '06:00', '09:00', dry => dry), 'skip 06:00, skip 07:00, fire 08:00',
          format('a time whose run has ended does not fire again, dry run %s', dry))
FROM unnest('{true,false}'::boolean[]) AS dry;
SELECT is((SELECT b.detail FROM lockstep.job_backfill('b', '2020-01-01 06:00Z', '2020-01-01 07:00Z') AS b),
          (SELECT format('it has fired already: run %s is Completed', lockstep.job_run_id(s.schedule_uid,
                                                                                         '2020-01-01 06:00Z'))
           FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'b'),
          'which the answer names');
SELECT is((SELECT s.next_at FROM lockstep.schedule s WHERE s.after_job IS NOT NULL), NULL,
          'and a job that follows does not run again');
SELECT lockstep.job_set('b', '{"queue": "other"}');
SELECT is(pg_temp.fill('b', '06:00', '08:00'), 'skip 06:00, skip 07:00', 'nor does it in another queue');
SELECT lockstep.schedule_add('b', '{"name": "a", "kind": "interval", "every": "1h"}');
SELECT is(pg_temp.fill('b', '06:00', '08:00', schedule => 'a'), 'skip 06:00, skip 07:00',
          'nor for another schedule with the same time');
SELECT lockstep.job_set('b', '{"queue": "q"}'), lockstep.schedule_remove('b', 'a');
UPDATE lockstep.run SET job_id = NULL
WHERE run_id IN (SELECT lockstep.job_run_id(s.schedule_uid, '2020-01-01 06:00Z') FROM lockstep.schedule s);
SELECT is(pg_temp.fill('b', '06:00', '08:00'), 'fire 06:00, skip 07:00',
          'a run that was read from the topic, of a time that was undone, is taken over');
SELECT is((SELECT count(*) FROM lockstep.run r JOIN lockstep.job j USING (job_id) WHERE j.name = 'b'), 3::bigint,
          'and not sent again');
SELECT pg_temp.gone('b', 'behind');
-- Refusals: each with the field, and nothing is stored.
SELECT lockstep.job_define(pg_temp.spec('b', '{"schedules": [{"name": "s", "kind": "interval", "every": "1m"}]}')),
       lockstep.job_define(pg_temp.spec('plain')),
    lockstep.job_define('{"job": "w", "watch": true, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}');
SELECT throws_like('SELECT lockstep.job_backfill(' || call || ')', message, message)
FROM (VALUES ($$'b', '2020-01-01Z', '2020-02-01Z'$$, 'to: the range has more than 1000 times'),
             ($$'b', '2020-01-02Z', '2020-01-01Z'$$, 'to: it is not after from'),
             ($$'b', '2020-01-01Z', '2220-01-01Z'$$, 'to: times that are to come are fired by the dispatcher'),
             ($$'b', NULL, '2020-01-01Z'$$, 'from: it is no time'),
             ($$'b', '-infinity', '2020-01-01Z'$$, 'from: it is no time'),
             ($$'b', '2020-01-01Z', 'infinity'$$, 'to: it is not after from'),
             ($$'b', '2020-01-01Z', '2020-01-02Z', 'nightly'$$, 'schedule: job b has no schedule "nightly" with times'),
             ($$'b', '2020-01-01Z', '2020-01-02Z', NULL, 'cancel'$$, 'overlap: "cancel" is not known'),
             ($$'plain', '2020-01-01Z', '2020-01-02Z'$$, 'job: plain has no schedule with times'),
             ($$'w', '2020-01-01Z', '2020-01-02Z'$$, 'job w is a watch%'),
             ($$'none', '2020-01-01Z', '2020-01-02Z'$$, 'there is no job none'))
    AS bad (call, message);
SELECT is((SELECT count(*) FROM lockstep.job_occurrence), 0::bigint, 'and nothing of it is stored');
SELECT is((SELECT count(*) FROM lockstep.job_backfill('b', '2020-01-01Z', '2020-01-01 16:40Z', dry_run => true)),
          1000::bigint, 'a thousand times are as many as may be');
SELECT pg_temp.gone('b', 'plain', 'w');
CREATE TABLE public.staging (id int);
GRANT SELECT ON public.staging TO PUBLIC; -- other tests make logins that run tasks
SELECT lockstep.job_define(pg_temp.spec('asks', '{"query": "SELECT 100 AS \"order\", ''SELECT 1'' AS sql",
                                                  "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}')
                           - 'tasks'),
    lockstep.job_define(pg_temp.spec('waits', '{"trigger": {"on": "public.staging", "threshold": 5}}'));
SELECT throws_like(format('SELECT lockstep.job_backfill(%L, %L, %L, dry_run => %L)', job, '2020-01-01Z',
                          '2020-01-02Z', dry),
                   message, message)
FROM (VALUES ('waits', 'trigger: job waits fires when rows wait and has no times', '{true,false}'))
    AS bad (job, message, dries),
    unnest(dries::boolean[]) AS dry;
SELECT is(pg_temp.fill('asks', '00:00', '02:00', 'queue_one', dry => true), 'fire 00:00, wait 01:00',
          'what would fire is reported without the query');
-- The query runs in a session of the tasks' login, with a token for the first time that may fire.
SELECT scheduled_for, action, token, query, words
FROM lockstep.job_backfill_ask('asks', '2020-01-01Z', '2020-01-02Z', NULL, 'allow', '2020-01-01 05:00Z') \gset
SELECT is(:'action' || to_char(:'scheduled_for'::timestamptz AT TIME ZONE 'UTC', ' HH24:MI'), 'ask 06:00',
          'the times up to the one that is named are left out');
SELECT lockstep.ask_fire(:'token', NULL, :'query', :'words') AS run \gset
SELECT is(:'run',
          (SELECT run_id FROM lockstep.occurrence
           WHERE job = 'asks' AND outcome = 'fired' AND scheduled_for = '2020-01-01 06:00Z'),
          'the token fires its time');
SELECT throws_ok(format('SELECT lockstep.ask_fire(%L, NULL, %L, %L)', :'token', :'query', :'words'), 'LS002', NULL,
                 'and no other one');
SELECT token FROM lockstep.job_backfill_ask('asks', '2020-01-01Z', '2020-01-02Z', NULL, 'allow', NULL) \gset
SELECT throws_like(format('SELECT lockstep.fire(%L, NULL, NULL)', :'token'), '%has no such SQL',
                   'a token does not fire the job without its query');
SELECT lockstep.dispatch_begin();
SELECT isnt(lockstep.fire(:'token', NULL, ARRAY['{"order": 1, "sql": "SELECT 1"}'::jsonb]), NULL,
            'another dispatcher does not make the token void');
SELECT throws_like($$SELECT lockstep.job_backfill_ask('asks', '2020-01-01Z', '2020-02-20Z', NULL, 'allow',
                                                      '2020-01-01 01:00Z')$$,
                   'to: the range has more than 1000 times%', 'the limit holds for the remaining times');
SELECT is((SELECT count(*) FILTER (WHERE action = 'skip') || ' of ' || count(*)
           FROM lockstep.job_backfill_ask('asks', '2020-01-01Z', '2020-01-02Z', NULL, 'skip',
                                          '2020-01-01 06:00Z')), '17 of 17', 'while a run is open, skip asks for none');
-- The test button knows that a firing of these rows would be an error, or skipped.
UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
SELECT is((SELECT format('%s, %s: %s', t.would_fire, t.verdict, t.reason)
           FROM lockstep.job_test('asks', date_trunc('hour', clock_timestamp()) + interval '1 h', NULL, rows) AS t),
          said, said)
FROM (VALUES ('{"s": [{"order": 1, "sql": "SELECT 1"}]}'::jsonb, 't, fire: it is due'),
             ('{"s": [{"order": 1.0, "sql": "SELECT 1"}]}',
              'f, error: task 1: "order" is no whole number from 1 to 9223372036854775807 in plain digits'),
             ('{"s": [{"order": 1, "sqll": "x"}]}', 'f, error: task 1: there is no field "sqll"'),
             ('{"s": []}', 'f, skip: its query returned no task')) AS v (rows, said);
SELECT pg_temp.gone('asks', 'waits');

-- Schedules one by one: as a file would have them.
CREATE FUNCTION pg_temp.schedules(name text)
RETURNS jsonb LANGUAGE sql AS $$ SELECT j.spec -> 'schedules' FROM lockstep.job j WHERE j.name = schedules.name $$;
CREATE FUNCTION pg_temp.stored(name text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(s.name || ' ' || s.is_active, ', ' ORDER BY s.name)
    FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = stored.name
$$;
SELECT lockstep.job_define(pg_temp.spec('a'));
SELECT is(lockstep.schedule_add('a',
                                '{"name": "night", "kind": "cron", "expr": "0 2 * * *", "zone": "Europe/Warsaw"}'),
          2, 'a schedule is added, and the job has another version');
SELECT is(lockstep.schedule_add('a', '{"name": "noon", "kind": "daily", "times": ["12:00"]}', 2), 3,
          'to the version that the caller has seen');
SELECT is(pg_temp.stored('a'), 'night true, noon true', 'the job has both');
SELECT next_at AS noon FROM lockstep.schedule WHERE name = 'noon' \gset
SELECT is(lockstep.schedule_set('a', 'night', '{"expr": "0 3 * * *", "jitter": "5m"}'), 4, 'fields are changed');
SELECT is(pg_temp.schedules('a') -> 0,
          '{"name": "night", "kind": "cron", "expr": "0 3 * * *", "zone": "Europe/Warsaw", "jitter": "5m"}'::jsonb,
          'and the others stay');
SELECT is((SELECT next_at FROM lockstep.schedule WHERE name = 'noon'), :'noon'::timestamptz,
          'nor does the other schedule change');
SELECT lockstep.schedule_set('a', 'night', '{"kind": "interval", "every": "2h", "jitter": null}');
SELECT is(pg_temp.schedules('a') -> 0,
          '{"name": "night", "kind": "interval", "every": "2h", "zone": "Europe/Warsaw"}'::jsonb,
          'another kind leaves no field of the old rule; null is as never set');
SELECT j.version AS version, (SELECT count(*) FROM lockstep.job_event) AS events FROM lockstep.job j
WHERE j.name = 'a' \gset
SELECT is(lockstep.schedule_set('a', 'night', change::jsonb), :version,
          'a change that changes nothing leaves the version: ' || change)
FROM unnest('{"{}","{\"every\": \"2h\"}","{\"enabled\": true, \"jitter\": null}","{\"kind\": \"interval\"}"}'::text[])
    AS change;
SELECT is((SELECT count(*) FROM lockstep.job_event), :events::bigint, 'and the log');
SELECT lockstep.schedule_set('a', 'night', '{"enabled": false}');
SELECT is(pg_temp.stored('a'), 'night false, noon true', 'one that is disabled does not fire');
SELECT lockstep.schedule_remove('a', 'night');
SELECT is(pg_temp.stored('a'), 'noon true', 'it is removed');
SELECT lockstep.schedule_remove('a', 'noon');
SELECT is(pg_temp.schedules('a'), NULL, 'and without the last one the job is one that runs by hand');
SELECT lockstep.job_apply(jsonb_build_array(pg_temp.spec('f',
    '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}')),
    'file');
SELECT lockstep.schedule_set('f', 's', '{"every": "2h"}');
SELECT is((SELECT action FROM lockstep.job_apply(jsonb_build_array(pg_temp.spec('f',
    '{"schedules": [{"name": "s", "kind": "interval", "every": "3h"}]}')),
                                                 'file')),
          'kept', 'a file finds that it was changed by hand');
SELECT throws_like('SELECT lockstep.' || call, message, message)
FROM (VALUES ($$schedule_add('f', '{"name": "s", "kind": "interval", "every": "1h"}')$$,
              'name: job f has a schedule "s" already'),
             ($$schedule_add('f', '{"name": "t"}')$$, '%kind: nothing is not known%'),
             ($$schedule_add('f', '[]')$$, 'job f: schedules[2]: it is no JSON object'),
             ($$schedule_add('f', NULL)$$, 'job f: schedules[2]: it is no JSON object'),
             ($$schedule_add('f', '{"name": "t", "kind": "cron", "expr": "0 25 * * *"}')$$, '%25%'),
             ($$schedule_add('none', '{}')$$, 'there is no job none'),
             ($$schedule_add('f', '{"name": "t", "kind": "interval", "every": "1h"}', 1)$$,
              'job f was changed: it is of version 2, not 1'),
             ($$schedule_set('f', 'x', '{}')$$, 'job f has no schedule "x"'),
             ($$schedule_set('f', 's', '7')$$, 'change: it is no JSON object'),
             ($$schedule_set('f', 's', '{"name": "t"}')$$, 'name: a schedule keeps its name'),
             ($$schedule_set('f', 's', '{"every": "0s"}')$$, 'job f, schedule s: every: 0s is not in the range'),
             ($$schedule_remove('f', 'x')$$, 'job f has no schedule "x"'),
             ($$schedule_remove('f', 's', 9)$$, 'job f was changed%'))
    AS bad (call, message);
SELECT is((SELECT version FROM lockstep.job WHERE name = 'f'), 2, 'and nothing of it is stored');
SELECT lockstep.job_define('{"job": "w", "watch": true,
                             "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}');
SELECT throws_like($$SELECT lockstep.schedule_remove('w', 's')$$, 'schedules: a watch is expected at its times%',
                   'a watch keeps its last one');
SELECT pg_temp.gone('a', 'f', 'w');

-- A file turns a chain round; a circle in the end is refused.
CREATE FUNCTION pg_temp.behind(name text, other text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT pg_temp.spec(name, jsonb_build_object('schedules',
        jsonb_build_array(jsonb_build_object('name', 's', 'kind', 'after', 'job', other))))
$$;
SELECT lockstep.job_apply(jsonb_build_array(pg_temp.spec('x'), pg_temp.behind('y', 'x'), pg_temp.behind('z', 'y')),
                          'f');
SELECT is((SELECT string_agg(a.job || ' ' || a.action, ', ')
           FROM lockstep.job_apply(jsonb_build_array(pg_temp.behind('x', 'y'), pg_temp.behind('y', 'z'),
                                                     pg_temp.spec('z')),
                                   'f')
               AS a),
    'x change, y change, z change', 'a chain is turned round by one file');
SELECT throws_like(format('SELECT lockstep.job_apply(%L, %L)', jsonb_build_array(pg_temp.behind('z', 'x')), 'f'),
    'schedules: job % would run after itself', 'a circle with jobs that the file does not name is refused');
SELECT throws_like(format('SELECT lockstep.job_apply(%L, %L)',
                          jsonb_build_array(pg_temp.behind('n', 'm'), pg_temp.behind('m', 'n')), 'g'),
                   'schedules: job % would run after itself', 'and one of new jobs');
SELECT throws_like($$SELECT lockstep.schedule_add('z', '{"name": "s", "kind": "after", "job": "x"}')$$,
                   'schedules: job z would run after itself', 'and one that is made by hand');
SELECT is((SELECT count(*) FROM lockstep.schedule), 2::bigint, 'nothing of it is stored');

SELECT throws_ok(format('SELECT lockstep.job_apply(%L, %L)',
                        jsonb_build_array(pg_temp.spec('n', '{"queue": "nowhere"}')), 'g'),
                 'LS003', 'there is no queue nowhere', 'a file with an unknown queue is refused');
SELECT throws_ok(format('SELECT lockstep.job_apply(%L, %L, true)', jsonb_build_array(pg_temp.behind('n', 'nowhere')),
                        'g'),
    'LS003', 'job n, schedule s: there is no job nowhere', 'and one with an unknown job to follow, in a dry run, too');

-- A queue that other queues' jobs follow is not deleted beneath them.
SELECT lockstep.job_define(pg_temp.behind('far', 'x') || '{"queue": "other"}');
SELECT throws_ok($$SELECT lockstep.queue_delete((SELECT queue_id FROM lockstep.queue WHERE name = 'q'))$$, 'LS002',
                 'job far of another queue runs after job x of this one',
                 'a queue is not deleted while a job of another queue follows one of its jobs');
SELECT is((SELECT count(*) FROM lockstep.queue), 2::bigint, 'it is still there');
SELECT lockstep.schedule_remove('far', 's');
SELECT lives_ok($$SELECT lockstep.queue_delete((SELECT queue_id FROM lockstep.queue WHERE name = 'q'))$$,
                'without the schedule it is');
SELECT is((SELECT string_agg(name, ' ') FROM lockstep.job), 'far', 'with its own jobs');
SELECT is((SELECT string_agg(DISTINCT job, ' ' ORDER BY job) FROM lockstep.job_log
           WHERE message = 'deleted with queue q'),
          'x y z', 'and the log says so');
SELECT pg_temp.gone('far');
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');

-- More times than one look walks over have passed: once means once.
SELECT lockstep.job_define(pg_temp.spec('s',
    '{"overlap": "allow", "schedules": [{"name": "s", "kind": "interval", "every": "1s", "catchup_window": "2d"}]}'));
UPDATE lockstep.schedule SET next_at = '2030-01-01Z', wake_at = '2030-01-01Z';
SELECT is((SELECT string_agg(d.verdict, ' ')
           FROM generate_series(1, 5) AS n,
                lockstep.dispatch('test', '2030-01-01 03:00Z'::timestamptz + n * interval '1 ms') AS d),
          'miss miss fire',
    'of 10,801 seconds that passed the latest fires, and no other');
SELECT is((SELECT scheduled_for FROM lockstep.occurrence WHERE outcome = 'fired'), '2030-01-01 03:00Z'::timestamptz,
          'it is the latest');
SELECT pg_temp.gone('s');

-- What else is refused when a job is saved, each with the field (tests/sql/job.sql has more).
SELECT throws_like(format('SELECT lockstep.job_define(%L)', pg_temp.spec('r', more)), message, message)
FROM (VALUES ('{"schedules": [{"name": "s", "kind": "cron", "expr": "*/90 * * * *"}]}'::jsonb,
              'job r, schedule s: minute: step 90 %'),
             ('{"schedules": [{"name": "s", "kind": "cron", "expr": "0 0 0 * * * 2030"}]}', '%this one has 7'),
             ('{"schedules": [{"name": "s", "kind": "cron", "expr": "0 0 12 ? * 2"}]}', '%Quartz%'),
             ('{"schedules": [{"name": "s", "kind": "cron", "expr": "0 0 * * *", "zone": "Mars/Olympus"}]}',
              '%Mars/Olympus%'),
             ('{"schedules": [{"name": "s", "kind": "calendar", "freq_type": 8, "freq_interval": '
              '0, "freq_recurrence_factor": 1}]}',
              'job r, schedule s: freq_interval: 0 is not in the range'),
             ('{"schedules": [{"name": "s", "kind": "calendar", "freq_type": 4, "freq_interval": '
              '1, "active_start_date": 20300101, "active_end_date": 20290101}]}',
              'job r, schedule s: active_end_date: it is before active_start_date'),
             ('{"schedules": [{"name": "s", "kind": "daily", "times": ["25:00"]}]}', '%25:00%'),
             ('{"schedules": [{"name": "", "kind": "daily", "times": ["05:00"]}]}',
              'job r: schedules[1].name: "" is no name%'),
             ('{"schedules": {}}', 'schedules: it is no list%'),
             ('{"enabled": "yes"}', 'enabled: it is neither true nor false'),
             ('{"defaults": []}', 'defaults: it is no JSON object'),
             ('{"queue": 7}', 'queue: it is missing'),
             ('{"zombie_after": "0s"}', 'zombie_after: 0s is not in the range'))
    AS bad (more, message);
SELECT throws_like(format('SELECT lockstep.job_define(%L)', pg_temp.spec('r') || jsonb_build_object('tasks',
    (SELECT jsonb_agg('{"order": 1, "sql": "SELECT 1"}'::jsonb) FROM generate_series(1, 100001)))),
    'tasks: it is no list of 1 to 100000 tasks', '100,001 tasks are refused');
SELECT is((SELECT count(*) FROM lockstep.job), 0::bigint, 'and nothing of it is stored');

SELECT * FROM finish();
ROLLBACK;
