-- The clock of the database was a day ahead, and was set back: jobs have their times by the clock as it is now, and no
-- time fires twice (sql/functions/job/job_set_back.sql).
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');
CREATE TABLE public.staging (id int, came timestamptz NOT NULL DEFAULT now());
GRANT SELECT ON public.staging TO lockstep_task;

\ir job.inc
CREATE FUNCTION pg_temp.turn(p_now timestamptz) RETURNS text LANGUAGE sql AS $$
    SELECT COALESCE(string_agg(concat_ws(' ', d.job, d.verdict,
                                         to_char(d.scheduled_for AT TIME ZONE 'UTC', 'DD HH24:MI')), ', '),
                    'nothing')
    FROM lockstep.dispatch('test', p_now, p_most => 9) AS d WHERE d.verdict IS NOT NULL
$$;
CREATE FUNCTION pg_temp.next(p_name text) RETURNS text LANGUAGE sql AS $$
    SELECT to_char(s.next_at AT TIME ZONE 'UTC', 'DD HH24:MI')
    FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = p_name
$$;
CREATE FUNCTION pg_temp.look(p_now timestamptz) RETURNS text LANGUAGE sql AS $$
    SELECT (lockstep.monitor_look('test', '1 minute', p_now)).absence
$$;
SELECT lockstep.job_define(pg_temp.spec('hour', '{"overlap": "allow",
    "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}')),
       lockstep.job_define(pg_temp.spec('rows',
    '{"trigger": {"on": "public.staging", "pending": "true", "threshold": 1}}'));
UPDATE lockstep.schedule SET next_at = '2030-01-01 05:00Z', wake_at = '2030-01-01 05:00Z';

-- A day ahead.
SELECT is(pg_temp.turn('2030-01-02 06:30Z'), 'hour fire 02 06:00', 'the clock is ahead: the latest time fires');
SELECT is(pg_temp.turn('2030-01-02 06:30Z'), 'rows look', 'and the trigger is looked at');
SELECT lockstep.dispatch_looked('test', (SELECT a.token FROM lockstep.job_ask a), 0, NULL, NULL),
       pg_temp.look('2030-01-02 06:30Z'), pg_temp.look('2030-01-02 06:32Z');
SELECT is(pg_temp.next('hour'), '02 07:00', 'the next time is of that clock');

-- It is set back.
SELECT is(pg_temp.look('2030-01-01 06:30Z'),
          'the clock of the database was set back, from 2030-01-02T06:32:00Z to 2030-01-01T06:30:00Z', 'it is noticed');
SELECT is(pg_temp.next('hour'), '01 07:00', 'the next time is of this clock');
SELECT is((SELECT l.message FROM lockstep.job_log l
           WHERE l.job = 'hour' AND l.event = 'changed' AND l.source = 'schedule s'),
          'the clock of the database was set back: its next time is 2030-01-01T07:00:00Z, not 2030-01-02T07:00:00Z',
          'and the log says so');
SELECT is(pg_temp.turn('2030-01-01 06:31Z'), 'rows look', 'the trigger is looked at');
SELECT pg_temp.look('2030-01-01 06:31Z');
SELECT is((SELECT count(*) FROM lockstep.job_ask), 1::bigint, 'once');
DELETE FROM lockstep.job WHERE name = 'rows';
SELECT is(pg_temp.turn('2030-01-01 07:00Z'), 'hour fire 01 07:00', 'and what is due fires');
SELECT is(pg_temp.turn('2030-01-02 05:30Z'), 'hour fire 02 05:00', 'until the day on which the clock was');
SELECT is((SELECT t.reason FROM lockstep.job_test('hour', '2030-01-02 06:00Z') AS t),
          'this time was decided before the clock was set back', 'job test says that a time has fired');
SELECT is(pg_temp.turn('2030-01-02 06:00Z'), 'hour wait 02 06:00', 'which does not fire again');
SELECT is(pg_temp.turn('2030-01-02 07:00Z'), 'hour fire 02 07:00', 'and the next one fires');
SELECT is((SELECT string_agg(o.outcome, ' ') FROM lockstep.occurrence o WHERE o.job = 'hour'),
          'fired fired fired fired', 'nothing is an error');

-- A time whose SQL runs keeps its time; one that waits for a run waits on; one that was the last is to come again.
SELECT lockstep.job_delete('hour');
SELECT lockstep.job_define(pg_temp.spec('asks', '{"query": "SELECT 1 AS \"order\", ''SELECT 1'' AS sql",
    "schedules": [{"name": "s", "kind": "daily", "times": ["02:00"]}]}') - 'tasks');
UPDATE lockstep.schedule SET next_at = '2030-01-03 02:00Z', wake_at = '2030-01-03 02:00Z';
SELECT pg_temp.look('2030-01-03 02:20Z');
SELECT is(pg_temp.turn('2030-01-03 02:20Z'), 'asks ask 03 02:00', 'the query of a time runs');
SELECT pg_temp.look('2030-01-03 02:15Z');
SELECT is(pg_temp.next('asks'), '03 02:00', 'behind a step back its time is undecided still');
SELECT is((SELECT s.asked_until FROM lockstep.schedule s), NULL, 'and is not left to a token of the clock before');
SELECT is(pg_temp.turn('2030-01-03 02:16Z'), 'asks ask 03 02:00', 'so it is asked for again');
SELECT lockstep.job_delete('asks');

SELECT lockstep.job_define(pg_temp.spec('queues', '{"overlap": "queue_one",
    "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'));
UPDATE lockstep.schedule SET next_at = '2030-01-03 05:00Z', wake_at = '2030-01-03 05:00Z';
SELECT pg_temp.turn('2030-01-03 05:00Z'), pg_temp.look('2030-01-03 06:05Z');
SELECT is(pg_temp.turn('2030-01-03 06:05Z'), 'queues queue 03 06:00', 'a time waits for the end of a run');
SELECT pg_temp.look('2030-01-03 05:50Z');
SELECT is(pg_temp.turn('2030-01-03 06:00Z'), 'queues wait 03 06:00', 'it is not skipped when it comes once more');
SELECT pg_temp.ends('queues');
SELECT is(pg_temp.turn('2030-01-03 06:10Z'), 'queues fire 03 06:00', 'and fires when the run has ended');
SELECT pg_temp.turn('2030-01-03 06:10Z'), pg_temp.ends('queues');
SELECT is(pg_temp.next('queues'), '03 07:00', 'once');
SELECT lockstep.job_delete('queues');

SELECT lockstep.job_define(pg_temp.spec('last', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h",
    "not_after": "2030-01-03T12:30:00Z"}]}'));
UPDATE lockstep.schedule SET next_at = '2030-01-03 05:00Z', wake_at = '2030-01-03 05:00Z';
SELECT pg_temp.look('2030-01-04 05:00Z'), pg_temp.turn('2030-01-04 05:00Z');
SELECT is(pg_temp.next('last'), NULL, 'its last time has passed');
SELECT pg_temp.look('2030-01-03 10:30Z');
SELECT is(pg_temp.next('last'), '03 11:00', 'by the clock as it is now it has not');
SELECT lockstep.job_delete('last');

-- A watch that has reported ahead, as seen by the clock now.
CREATE FUNCTION pg_temp.shown(p_at timestamptz) RETURNS interval LANGUAGE sql AS $$
    SELECT p_at - date_trunc('hour', now())
$$;
SELECT lockstep.job_define('{"job": "watch", "watch": true,
    "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}');
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, decided_at, outcome, source, dispatcher,
                                     status, ended_at)
SELECT s.job_id, s.schedule_id, t.at, t.at, 'fired', 'ping by x', 'x', 'Completed', t.at
FROM lockstep.schedule s JOIN lockstep.job j USING (job_id),
     (SELECT date_trunc('hour', now()) + interval '24 hours' AS at) t WHERE j.name = 'watch';
UPDATE lockstep.schedule s SET next_at = date_trunc('hour', now()) + interval '25 hours'
FROM lockstep.job j WHERE j.job_id = s.job_id AND j.name = 'watch';
UPDATE lockstep.monitor SET looked_at = now() + interval '24 hours';
SELECT pg_temp.look(now());
SELECT is((SELECT pg_temp.shown(s.next_at) FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
           WHERE j.name = 'watch'), interval '1 hour',
    'a report is expected at the next time by the clock as it is now');
SELECT lockstep.ping('watch', 'fail', 'disk full');
SELECT is((SELECT h.state FROM lockstep.job_health h WHERE h.job = 'watch'), 'failed',
    'and a report of the clock before does not hide a later one');
-- One that has reported its next time already, before a small step.
UPDATE lockstep.job_occurrence o SET scheduled_for = date_trunc('hour', now()) + interval '1 hour'
FROM lockstep.schedule s WHERE s.schedule_id = o.schedule_id AND o.source = 'ping by x';
UPDATE lockstep.schedule s SET next_at = date_trunc('hour', now()) + interval '25 hours'
FROM lockstep.job j WHERE j.job_id = s.job_id AND j.name = 'watch';
UPDATE lockstep.monitor SET looked_at = now() + interval '24 hours';
SELECT pg_temp.look(now());
SELECT is((SELECT pg_temp.shown(s.next_at) FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
           WHERE j.name = 'watch'), interval '2 hours', 'a time that it has reported is not expected again');
SELECT lockstep.job_delete('watch');

-- Notices and reminders of the clock before.
INSERT INTO lockstep.job_alert (job, kind, since, seen_at, last_seen_at, opened_at, text)
SELECT 'n' || n, 'missed', t, t, t, t, 'x' FROM (SELECT now() + interval '1 day' AS t) t, generate_series(1, 3) AS n;
INSERT INTO lockstep.job_notice (alert_id, receiver, notice, number, made_at, due_at, attempts, is_claimed,
                                 delivered_at)
SELECT a.alert_id, 'r', 'opened', 0, a.opened_at, a.opened_at, 1, a.job = 'n2',
       CASE WHEN a.job = 'n3' THEN a.opened_at END
FROM lockstep.job_alert a WHERE a.job ~ '^n[1-3]$';
UPDATE lockstep.monitor SET looked_at = now() + interval '24 hours';
SELECT pg_temp.look(now());
SELECT is((SELECT string_agg(format('%s %s %s %s', a.job, a.opened_at - now(), n.due_at - now(),
                                    n.delivered_at - now()),
                             ', ' ORDER BY a.job)
           FROM lockstep.job_alert a JOIN lockstep.job_notice n USING (alert_id) WHERE a.job ~ '^n[1-3]$'),
    'n1 00:00:00 00:00:02 , n2 00:00:00 02:00:00 , n3 00:00:00 1 day 00:00:00',
    'a notice that waits is tried soon, one that is being sent has its lease, and a reminder counts from now');

-- The end of a job.
SELECT lockstep.job_define(pg_temp.spec('hour')),
       lockstep.job_define(pg_temp.spec('child', '{"schedules": [{"name": "s", "kind": "after", "job": "hour"}]}'));
UPDATE lockstep.schedule SET next_at = '2030-01-02 07:00Z', due_at = '2030-01-02 07:00Z', wake_at = '2030-01-02 07:00Z'
WHERE after_job IS NOT NULL;
SELECT pg_temp.look('2030-01-04 07:00Z'), pg_temp.look('2030-01-01 07:00Z');
SELECT is(pg_temp.turn('2030-01-01 07:00Z'), 'child fire 02 07:00', 'an end is not waited for');
-- Its query runs: a small step, and one to a moment before that end.
SELECT lockstep.job_delete('child');
SELECT lockstep.job_define(pg_temp.spec('child', '{"query": "SELECT 1 AS \"order\", ''SELECT 1'' AS sql",
    "schedules": [{"name": "s", "kind": "after", "job": "hour"}]}') - 'tasks');
UPDATE lockstep.schedule SET next_at = '2030-01-03 07:00Z', due_at = '2030-01-03 07:00Z', wake_at = '2030-01-03 07:00Z'
WHERE after_job IS NOT NULL;
SELECT pg_temp.look('2030-01-03 07:20Z');
SELECT is(pg_temp.turn('2030-01-03 07:20Z'), 'child ask 03 07:00', 'the query of an end runs');
SELECT is(pg_temp.turn('2030-01-03 07:21Z'), 'nothing', 'and is not asked for again');
SELECT pg_temp.look('2030-01-03 07:10Z');
SELECT is(pg_temp.turn('2030-01-03 07:10Z'), 'child ask 03 07:00',
          'behind a step back it is not left to a token of the clock before');
SELECT pg_temp.look('2030-01-03 06:30Z');
SELECT is(pg_temp.turn('2030-01-03 06:30Z'), 'child ask 03 07:00', 'however far that goes');
SELECT is(pg_temp.turn('2030-01-03 06:31Z'), 'nothing', 'and the token of this clock counts');
SELECT pg_temp.look('2030-01-03 06:31Z');
SELECT is(pg_temp.turn('2030-01-03 06:31Z'), 'nothing', 'after a look, too');
SELECT * FROM finish();
ROLLBACK;
