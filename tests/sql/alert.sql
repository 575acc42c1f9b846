-- Alerts (sql/functions/alert/): the alerts that a look opens and closes, those that it does not raise, and the notices
-- of each receiver. The moments of the looks are given; lockstep.job_health has the states of the jobs.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;

\ir job.inc
-- A watch that is expected every day, and when next.
CREATE FUNCTION pg_temp.watch(name text, next timestamptz DEFAULT now() + interval '1 hour')
RETURNS void LANGUAGE sql AS $$
    SELECT lockstep.job_define(jsonb_build_object('job', name, 'watch', true,
        'schedules', jsonb_build_array(pg_temp.in_twelve_hours())));
    UPDATE lockstep.schedule s SET next_at = next FROM lockstep.job j WHERE j.job_id = s.job_id AND j.name = watch.name;
$$;
CREATE FUNCTION pg_temp.due(name text, next timestamptz) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.schedule s SET next_at = next FROM lockstep.job j WHERE j.job_id = s.job_id AND j.name = due.name;
$$;
CREATE TEMP SEQUENCE minute;
-- A look a minute after the one before: opened/closed.
CREATE FUNCTION pg_temp.look() RETURNS text LANGUAGE sql AS $$
    SELECT format('%s/%s', l.opened, l.closed) FROM lockstep.monitor_look('test', '1 minute',
        '2030-01-01Z'::timestamptz + nextval('minute') * interval '1 minute')
                                                   AS l
$$;
CREATE FUNCTION pg_temp.alerts() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', job, kind, ended), ', ' ORDER BY alert_id) FROM lockstep.alert
$$;

-- Two looks open an incident, and two close it.
SELECT pg_temp.watch('backup');
SELECT is(pg_temp.look(), '0/0', 'of a job that is well nothing is raised');
SELECT pg_temp.due('backup', now() - interval '3 hours');
SELECT is(pg_temp.look(), '0/0', 'one look alone opens nothing');
SELECT is(pg_temp.alerts(), NULL, 'and shows nothing');
SELECT is(pg_temp.look(), '1/0', 'the second one does');
SELECT is((SELECT format('%s %s %s', job, kind, text) FROM lockstep.alert),
          'backup missed ' || (SELECT detail FROM lockstep.job_health), 'an incident says what the health says');
SELECT is(pg_temp.look() || pg_temp.look(), '0/00/0', 'it is opened once');
SELECT is((SELECT count(*) || ' ' || bool_and(last_seen_at > opened_at) FROM lockstep.alert), '1 true',
          'and seen again');
SELECT pg_temp.due('backup', now() + interval '1 hour');
SELECT is(pg_temp.look(), '0/0', 'one look alone closes nothing');
SELECT is(pg_temp.look(), '0/1', 'the second one does');
SELECT is(pg_temp.alerts(), 'backup missed recovered', 'it has recovered');
SELECT is((SELECT string_agg(concat_ws(' ', event, message), '; ' ORDER BY job_event_id) FROM lockstep.job_log
           WHERE source = 'monitor'),
    'missed ' || (SELECT text FROM lockstep.alert) || '; recovered missed is over: recovered',
    'the job''s log says so');
CREATE FUNCTION pg_temp.events() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', l.event, l.job, regexp_replace(l.detail, 'alert \d+', 'alert N')), '; '
                      ORDER BY l.event_id)
    FROM lockstep.event_log l JOIN lockstep.event_type t USING (event) WHERE t.about = 'job'
$$;
SELECT is(pg_temp.events(),
          'alert_opened backup job backup: alert N: missed: ' || (SELECT text FROM lockstep.alert) ||
          '; alert_closed backup job backup: alert N: missed is over: recovered',
          'and so does the log of events');
-- What comes and goes from look to look is no incident.
SELECT pg_temp.due('backup', now() - interval '3 hours'), pg_temp.look(),
       pg_temp.due('backup', now() + interval '1 hour'), pg_temp.look(),
       pg_temp.due('backup', now() - interval '3 hours'), pg_temp.look(),
       pg_temp.due('backup', now() + interval '1 hour'), pg_temp.look();
SELECT is(pg_temp.alerts(), 'backup missed recovered', 'what one look sees and the next one does not is not raised');
SELECT pg_temp.due('backup', now() - interval '3 hours'), pg_temp.look(), pg_temp.look(),
       pg_temp.due('backup', now() + interval '1 hour'), pg_temp.look(),
       pg_temp.due('backup', now() - interval '3 hours'), pg_temp.look();
SELECT is(pg_temp.alerts(), 'backup missed recovered, backup missed',
          'nor is one that is open closed by a single look');

-- Another kind is another incident.
SELECT lockstep.ping('backup', 'fail', 'disk full'), pg_temp.look(), pg_temp.look();
SELECT is(pg_temp.alerts(), 'backup missed recovered, backup missed changed, backup failed',
          'an incident that becomes another one has changed');
SELECT is((SELECT text FROM lockstep.alert WHERE closed_at IS NULL), 'disk full', 'and the new one has its text');

-- How many times have passed, and the first and the last of them in the zone of the schedule.
SELECT lockstep.job_define('{"job": "hours", "watch": true, "schedules": [
    {"name": "s", "kind": "cron", "expr": "0 * * * *", "zone": "Asia/Kolkata", "grace": "1m"}]}');
SELECT pg_temp.due('hours', date_trunc('hour', now(), 'Asia/Kolkata') - interval '2 hours');
SELECT pg_temp.look(), pg_temp.look();
SELECT is((SELECT text FROM lockstep.alert WHERE job = 'hours'),
    format('schedule s: it has not reported for %s; missed 3 times since %s, last %s Asia/Kolkata',
        lockstep.job_time(s.next_at),
        to_char(s.next_at AT TIME ZONE 'Asia/Kolkata', 'YYYY-MM-DD HH24:MI:SS'),
        to_char((s.next_at + interval '2 hours') AT TIME ZONE 'Asia/Kolkata', 'YYYY-MM-DD HH24:MI:SS')),
    'the incident says how many times have passed')
FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'hours';
SELECT is((SELECT message FROM lockstep.job_log WHERE job = 'hours' AND event = 'missed'),
    (SELECT text FROM lockstep.alert WHERE job = 'hours'), 'and so does the log of the job');
SELECT lockstep.job_define('{"job": "hours", "watch": true, "schedules": [
    {"name": "s", "kind": "interval", "every": "1h", "grace": "1m"}]}');
SELECT pg_temp.due('hours', date_trunc('hour', now(), 'UTC') - interval '2000 hours');
SELECT matches((SELECT detail FROM lockstep.job_health WHERE job = 'hours'),
    '; missed 2001 times since [^,]+:00, last [^,]+:00 UTC$',
    'an interval is counted, not walked over');
SELECT lockstep.job_define('{"job": "hours", "watch": true, "schedules": [
    {"name": "s", "kind": "cron", "expr": "* * * * *", "grace": "1m"}]}');
SELECT pg_temp.due('hours', date_trunc('hour', now(), 'UTC') - interval '200 hours');
SELECT matches((SELECT detail FROM lockstep.job_health WHERE job = 'hours'),
    '; missed at least \d+ times since [^,]+ UTC$', 'of very many only the first is named');
SELECT lockstep.job_delete('hours');
DELETE FROM lockstep.job_alert WHERE job = 'hours';

-- A watch that reports late.
SELECT pg_temp.watch('tape', now() - interval '3 h'), pg_temp.look(), pg_temp.look();
CREATE FUNCTION pg_temp.tape() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', kind, ended), ', ' ORDER BY alert_id) FROM lockstep.alert WHERE job = 'tape'
$$;
SELECT is(pg_temp.tape(), 'missed', 'a watch is missed');
SELECT lockstep.ping('tape'), pg_temp.look(), pg_temp.look(), pg_temp.look();
SELECT is(pg_temp.tape(), 'missed recovered', 'its report ends the incident, and opens no other');
SELECT is((SELECT state || ' ' || is_problem FROM lockstep.job_health WHERE job = 'tape'), 'ok false',
    'and the job is well, because that it was missed is known');
DELETE FROM lockstep.job_alert WHERE job = 'tape';
SELECT pg_temp.due('tape', now() - interval '150 minutes'), lockstep.ping('tape'), pg_temp.look(), pg_temp.look();
SELECT is(pg_temp.tape(), 'late', 'a late report whose absence no look saw is late');
SELECT is((SELECT state || ' ' || is_problem FROM lockstep.job_health WHERE job = 'tape'), 'late true',
    'in the list, too');
SELECT matches((SELECT text FROM lockstep.alert WHERE job = 'tape'),
    '^it reported 02:30:\d\d after its time$', 'a watch reports');
SELECT pg_temp.due('tape', now() - interval '2 hours'), pg_temp.look(), pg_temp.look();
SELECT is(pg_temp.tape(), 'late changed, missed',
    'the incident of a late report does not outlast the next time that is missed');
SELECT lockstep.job_delete('tape');
DELETE FROM lockstep.job_alert WHERE job = 'tape';

-- What people have switched off raises nothing, and closes what is open.
SELECT lockstep.job_silence('backup', now() + interval '1 hour', 'the disk is changed');
SELECT matches((SELECT state || ' ' || is_problem || ' ' || detail FROM lockstep.job_health),
               '^silenced false until 20.*Z by .*: the disk is changed$', 'a job can be silenced');
SELECT is(pg_temp.look() || ' ' || pg_temp.look(), '0/0 0/1', 'which closes its incident');
SELECT matches(pg_temp.alerts(), 'backup failed silenced$', 'as silenced');
SELECT lockstep.job_silence('backup', NULL);
SELECT is((SELECT state FROM lockstep.job_health), 'failed', 'until it ends');
SELECT is(pg_temp.look() || ' ' || pg_temp.look(), '0/0 1/0', 'then it is raised again');
SELECT lockstep.job_silence('backup', now() + interval '1 hour', 'x');
UPDATE lockstep.job_silence SET until = now() - interval '1 s';
SELECT is((SELECT state FROM lockstep.job_health), 'failed', 'a silence ends by itself, too');
SELECT lockstep.job_set('backup', '{"enabled": false}');
SELECT is(pg_temp.look() || ' ' || pg_temp.look(), '0/0 0/1', 'a disabled job raises nothing');
SELECT matches(pg_temp.alerts(), 'backup failed disabled$', 'and its incident is closed as disabled');
SELECT lockstep.job_set('backup', '{"enabled": true}'), pg_temp.look(), pg_temp.look(), lockstep.job_delete('backup'),
       pg_temp.look(), pg_temp.look();
SELECT matches(pg_temp.alerts(), 'backup failed deleted$', 'an incident of a job that is gone is closed');
DELETE FROM lockstep.job_alert;
-- A paused queue.
INSERT INTO lockstep.queue (name, topic, paused) VALUES ('q', 't', true);
SELECT lockstep.job_define('{"job": "load", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
                             "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'),
       pg_temp.due('load', now() - interval '5 h');
SELECT is(pg_temp.look() || ' ' || pg_temp.look(), '0/0 0/0', 'a job of a paused queue raises nothing');
UPDATE lockstep.queue SET paused = false;
SELECT is(pg_temp.look() || ' ' || pg_temp.look(), '0/0 1/0', 'until it is resumed');
-- While a run is open, its job's failure before is not over.
SELECT pg_temp.due('load', now() + interval '1 h'), lockstep.job_run('load');
UPDATE lockstep.run SET status = 'Failed', ended_at = clock_timestamp();
SELECT pg_temp.look(), pg_temp.look();
INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
VALUES (gen_random_uuid(), 'h', 1, 'v', 1, '{q}');
SELECT lockstep.job_run('load');
SELECT is((SELECT state FROM lockstep.job_health) || ' ' || pg_temp.look() || ' ' || pg_temp.look(),
          'running 0/0 0/0', 'a run that has begun does not close the failure of the one before');
UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
SELECT is(pg_temp.look() || ' ' || pg_temp.look(), '0/0 0/1', 'one that has completed does');
-- Runs that follow each other, so that at each look one is open.
CREATE FUNCTION pg_temp.load() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', h.state, h.is_problem, h.last_state) FROM lockstep.job_health h
$$;
CREATE FUNCTION pg_temp.follows(p_status text) RETURNS text LANGUAGE sql AS $$
    SELECT lockstep.job_run('load');
    UPDATE lockstep.run SET status = p_status, ended_at = clock_timestamp()
    WHERE run_id = (SELECT r.run_id FROM lockstep.run r WHERE r.ended_at IS NULL ORDER BY r.run_no LIMIT 1);
    SELECT pg_temp.look();
$$;
SELECT lockstep.job_set('load', '{"overlap": "allow"}'), lockstep.job_run('load');
SELECT is(pg_temp.follows('Failed') || ' ' || pg_temp.load(), '0/0 running t failed',
    'a job runs, and its last run has failed');
SELECT is(pg_temp.follows('Failed'), '1/0', 'that two looks saw it raises it, though a run is open');
SELECT matches((SELECT text FROM lockstep.alert WHERE closed_at IS NULL), '^run .* is Failed',
    'the incident has its text');
SELECT is(pg_temp.follows('Failed'), '0/0', 'once');
SELECT is(pg_temp.follows('Completed') || ' ' || pg_temp.load(), '0/0 running f ok', 'a run completes');
SELECT is(pg_temp.follows('Completed'), '0/1', 'two of them end it');
SELECT is((SELECT kind || ' ' || ended FROM lockstep.alert ORDER BY alert_id DESC LIMIT 1), 'failed recovered',
    'as recovered');
SELECT is(pg_temp.follows('Failed') || pg_temp.follows('Completed') || pg_temp.follows('Failed'), '0/00/00/0',
    'one failure between good runs raises nothing');
SELECT is(pg_temp.follows('Failed'), '1/0', 'a second one in a row does');
-- A time is missed, and then a run begins: it has not recovered.
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, decided_at, outcome, source, dispatcher)
SELECT s.job_id, s.schedule_id, now() + interval '1 min', now() - interval '1 s', 'missed', 'schedule s', 'd'
FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'load';
SELECT is(pg_temp.look() || ' ' || pg_temp.look() || ' ' || pg_temp.load(), '0/0 0/0 running f missed',
          'a miss behind an open run does not end a failure');
UPDATE lockstep.schedule SET is_active = false;
DELETE FROM lockstep.job_occurrence WHERE outcome = 'missed';
SELECT is(pg_temp.look() || ' ' || pg_temp.look() || ' ' || pg_temp.load(), '0/0 0/0 running f disabled',
          'nor does a schedule that is disabled while the run is open');
UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
SELECT is(pg_temp.look() || ' ' || pg_temp.look(), '0/0 0/1', 'the end of the run does');
SELECT is((SELECT kind || ' ' || ended FROM lockstep.alert ORDER BY alert_id DESC LIMIT 1), 'failed disabled',
    'as disabled');
DELETE FROM lockstep.job;
DELETE FROM lockstep.job_alert;

-- The monitor's own absence comes first, and nothing else for a minute.
SELECT pg_temp.watch('backup'), pg_temp.look(), pg_temp.due('backup', now() - interval '3 hours');
SELECT setval('minute', currval('minute') + 10);
SELECT is(pg_temp.look(), '0/0', 'after eleven minutes without a look');
SELECT matches((SELECT format('%s %s %s', job, kind, text) FROM lockstep.alert),
    '^ absent no monitor looked between 2030-.* and 2030-.*, or the clock was set$', 'that is what is raised');
SELECT is((SELECT l.opened FROM lockstep.monitor_look('test', '4 s',
    '2030-01-01Z'::timestamptz + currval('minute') * interval '1 minute' + interval '5 s')
                               AS l),
    0, 'and nothing else within the minute');
SELECT is((SELECT count(*) FROM lockstep.job_alert), 1::bigint, 'not even seen');
SELECT is(pg_temp.look(), '0/0', 'then what is missed is seen');
SELECT is(pg_temp.alerts(), 'absent recovered', 'the absence is over');
SELECT is(pg_temp.look(), '1/0', 'and then raised');
-- The clock was set back.
SELECT matches((SELECT l.absence FROM lockstep.monitor_look('test', '1 minute', '2029-12-31Z') AS l),
               '^the clock of the database was set back, from 2030-01-01T.*Z to 2029-12-31T00:00:00Z$',
               'a clock that was set back is said, too');
SELECT is((SELECT l.opened FROM lockstep.monitor_look('test', '1 minute', '2029-12-31T00:01:01Z') AS l), 0,
          'and looks continue from there');
SELECT is((SELECT count(*) FROM lockstep.alert WHERE closed_at IS NULL AND kind = 'absent'), 0::bigint,
          'after its minute');
-- Looks of several monitors.
SAVEPOINT slow;
SELECT lockstep.monitor_seen('slow', 'h', '10 minutes', true), lockstep.monitor_seen('dead', 'g', '1 hour', true);
UPDATE lockstep.monitor_process
SET started_at = '2029-12-31Z',
    looked_at = CASE who WHEN 'slow' THEN '2029-12-31T00:20Z' ELSE '2029-12-30T10:00Z' END::timestamptz;
SELECT is((SELECT l.absence FROM lockstep.monitor_look('slow', '10 minutes', '2029-12-31T00:20Z') AS l), NULL,
          'where a dispatcher that looked more often was ended, a monitor that looks rarely is not absent');
UPDATE lockstep.monitor SET looked_at = '2029-12-31T00:02Z', every = '1 minute';
UPDATE lockstep.monitor_process SET started_at = '2029-12-31T00:15Z' WHERE who = 'slow';
SELECT isnt((SELECT l.absence FROM lockstep.monitor_look('slow', '10 minutes', '2029-12-31T00:20Z') AS l), NULL,
            'but one that began later did not look in between');
ROLLBACK TO slow;
SELECT is((SELECT l.looked FROM lockstep.monitor_look('other', '1 minute', '2029-12-31T00:01:31Z') AS l), false,
          'a look that has just been made by another is not made again');
SELECT is((SELECT l.looked FROM lockstep.monitor_look('other', '20 s', '2029-12-31T00:01:31Z') AS l), true,
          'but by one that looks more often');
DELETE FROM lockstep.job_alert;
DELETE FROM lockstep.job;
UPDATE lockstep.monitor SET looked_at = '2029-01-01Z';
SELECT is((SELECT l.absence FROM lockstep.monitor_look('test', '1 minute', '2029-12-31T02:00Z') AS l), NULL,
          'where there is no job there is nothing to be absent from');
UPDATE lockstep.monitor SET looked_at = NULL;

-- Acknowledging, and its refusals.
DELETE FROM lockstep.event_log;
SELECT pg_temp.watch('backup', now() - interval '3 hours'), pg_temp.look(), pg_temp.look();
SELECT throws_like($$SELECT lockstep.alert_ack('backup', ' ')$$, 'reason: it is missing',
                   'an acknowledgement has a reason');
SELECT throws_ok($$SELECT lockstep.alert_ack('backups', 'x')$$, 'LS003', 'there is no job backups');
SELECT throws_ok($$SELECT lockstep.alert_ack('999999999', 'x')$$, 'LS003', 'there is no alert 999999999');
SELECT is(lockstep.alert_ack('backup', 'the disk comes tomorrow'), 1, 'it may name the job');
SELECT is((SELECT format('%s %s %s', acknowledged_by, acknowledged_at IS NOT NULL, note) FROM lockstep.alert),
          session_user || ' t the disk comes tomorrow', 'and is noted');
SELECT is((SELECT lockstep.alert_ack(alert_id::text, 'it is here') FROM lockstep.alert), 1, 'or the alert');
SELECT matches(pg_temp.events(),
    '^alert_opened backup .*; alert_acknowledged backup job backup: alert N: the disk comes tomorrow; '
    'alert_acknowledged backup job backup: alert N: it is here$',
    'which the log of events has, too');
SELECT throws_like($$SELECT lockstep.job_silence('backup', now() - interval '1 h', 'x')$$, 'until: % has passed',
                   'a silence ends in the future');
SELECT throws_like($$SELECT lockstep.job_silence('backup', now() + interval '2 years', 'x')$$,
                   'until: it is more than 366 days away', 'and not too far away');
SELECT throws_like($$SELECT lockstep.job_silence('backup', now() + interval '1 h')$$, 'reason: it is missing',
                   'and has a reason');
SELECT throws_ok($$SELECT lockstep.job_silence('backup', NULL)$$, 'LS002', 'job backup is not silenced');
SELECT throws_ok($$SELECT lockstep.job_silence('backups', NULL)$$, 'LS003', 'there is no job backups');

-- Jobs whose names are numbers; one of them is the number of an alert, too.
SAVEPOINT numbers;
SELECT pg_temp.watch('900042'), pg_temp.watch('900043');
INSERT INTO lockstep.job_alert (alert_id, job, kind, seen_at, last_seen_at, opened_at) OVERRIDING SYSTEM VALUE
SELECT id, job, kind, now(), now(), now()
FROM (VALUES (900001, '900042', 'missed'), (900002, '900042', 'stuck'), (900042, '900043', 'missed'))
    AS v (id, job, kind);
SELECT is(lockstep.alert_ack('900043', 'x'), 1, 'a number that is no alert is the name of a job');
SELECT throws_ok($$SELECT lockstep.alert_ack('900042', 'x')$$, 'LS002',
                 '900042 is the number of an open alert, and the name of a job that has others');
SELECT is(lockstep.alert_ack('#900042', 'the alert'), 1, 'behind a # it is the alert');
SELECT is((SELECT array_agg(alert_id ORDER BY alert_id) FROM lockstep.alert WHERE note = 'the alert'), '{900042}',
          'alone');
UPDATE lockstep.job_alert SET closed_at = now(), ended = 'recovered' WHERE alert_id = 900042;
SELECT throws_like($$SELECT lockstep.alert_ack('#900042', 'x')$$, 'alert 900042 is closed since %', 'while it is open');
SELECT is(lockstep.alert_ack('900042', 'the job'), 2, 'when it is closed, the number is the job');
UPDATE lockstep.job_alert SET closed_at = now(), ended = 'recovered' WHERE alert_id < 900042;
SELECT throws_like($$SELECT lockstep.alert_ack('900042', 'x')$$, 'alert 900042 is closed since %',
                   'unless nothing of that is open, either');
SELECT throws_ok($$SELECT lockstep.alert_ack('900043', 'x')$$, 'LS002', 'job 900043 has no open alert');
ROLLBACK TO numbers;

-- What is sent, to whom: once, in order, again when it failed.
CREATE FUNCTION pg_temp.claim(receiver text, jobs text DEFAULT '*', kinds text DEFAULT NULL,
                              hold interval DEFAULT '0 s', remind interval DEFAULT NULL)
RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', c.document::jsonb ->> 'notice', c.document::jsonb ->> 'job', c.document::jsonb ->> 'kind',
                     c.attempt, CASE WHEN c.notice_id IS NULL THEN 'nothing' END)
    FROM lockstep.notice_claim(receiver, 'm', string_to_array(jobs, ','), string_to_array(kinds, ','), hold, remind,
                               '1 minute')
        AS c
$$;
CREATE FUNCTION pg_temp.sent(receiver text, p_error text DEFAULT NULL) RETURNS int LANGUAGE sql AS $$
    SELECT lockstep.notice_sent(n.notice_id, n.attempts, p_error) FROM lockstep.job_notice n
    WHERE n.receiver = sent.receiver AND n.delivered_at IS NULL ORDER BY n.notice_id LIMIT 1
$$;
CREATE FUNCTION pg_temp.later() RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.job_notice SET due_at = due_at - interval '1 h', delivered_at = delivered_at - interval '1 h'
$$;
UPDATE lockstep.job_alert SET opened_at = clock_timestamp() - interval '5 min';
SELECT is(pg_temp.claim('a', 'load,back_p'), 'nothing', 'a receiver of other jobs has nothing to send');
SELECT is(pg_temp.claim('a', 'ba*up', 'failed'), 'nothing', 'nor one of other kinds');
SELECT is(pg_temp.claim('a', 'ba*up', 'missed,failed', '10 min'), 'nothing', 'nor one that waits for longer');
SELECT is(pg_temp.claim('a', 'x,ba*up', 'missed,failed', '1 min'), 'opened backup missed 1', 'one that it is for has');
SELECT is(pg_temp.claim('a'), 'nothing', 'and another monitor none meanwhile');
SELECT is(pg_temp.claim('b'), 'opened backup missed 1', 'another receiver has its own');
SELECT is(pg_temp.sent('a', 'status 500'), 2, 'a failure is tried again');
SELECT is((SELECT format('%s %s %s', attempts, error, next_attempt_at > now()) FROM lockstep.alert_notice
           WHERE receiver = 'a'),
          '1 status 500 t', 'and shown');
SELECT is(pg_temp.claim('a'), 'nothing', 'but not at once');
SELECT pg_temp.later();
SELECT is(pg_temp.claim('a'), 'opened backup missed 2', 'a little later it is');
SELECT pg_temp.later();
SELECT is(pg_temp.claim('a'), 'opened backup missed 3',
          'and once more, when whoever sent it has not said what became of it');
SELECT is((SELECT lockstep.notice_sent(notice_id, 2, 'too late') FROM lockstep.job_notice WHERE receiver = 'a'), NULL,
          'what that one says of a failure does not count any more');
SELECT is((SELECT attempts || ' ' || COALESCE(error, '-') FROM lockstep.alert_notice WHERE receiver = 'a'),
          '3 status 500', 'it leaves the row as it is');
SELECT pg_temp.due('backup', now() + interval '1 h'), pg_temp.look(), pg_temp.look(), pg_temp.sent('b');
SELECT is(pg_temp.claim('a'), 'nothing', 'the end is not sent before the beginning, which is being sent');
UPDATE lockstep.job_notice SET due_at = clock_timestamp() + interval '1 h' WHERE receiver = 'a' AND is_claimed;
SELECT is((SELECT c.wait_ms > 1800000 FROM lockstep.notice_claim('a', 'm', '{*}', NULL, '0 s', NULL, '1 min') AS c),
          true, 'nor waited for as if it were due, but until the lease of the beginning ends');
SELECT is(pg_temp.sent('a'), NULL, 'delivered');
SELECT is(pg_temp.claim('a'), 'closed backup missed 1', 'then it is');
SELECT is(pg_temp.claim('b'), 'closed backup missed 1', 'to each that knows of its beginning');
SELECT pg_temp.sent('a'), pg_temp.sent('b'), pg_temp.later();
SELECT is(concat_ws(' ', pg_temp.claim('a'), pg_temp.claim('b'), pg_temp.claim('c')), 'nothing nothing nothing',
          'and to no other, and once');
-- Reminders.
SELECT pg_temp.due('backup', now() - interval '3 h'), pg_temp.look(), pg_temp.look();
UPDATE lockstep.job_alert SET opened_at = clock_timestamp() - interval '5 min' WHERE closed_at IS NULL;
SELECT is(pg_temp.claim('a', remind => '30 min'), 'opened backup missed 1', 'a new incident');
SELECT pg_temp.sent('a');
SELECT is(pg_temp.claim('a', remind => '30 min'), 'nothing', 'no reminder before its time');
SELECT pg_temp.later();
SELECT is(pg_temp.claim('a'), 'nothing', 'nor where none is wanted');
SELECT is(pg_temp.claim('a', remind => '30 min'), 'reminder backup missed 1', 'at its time there is one');
SELECT pg_temp.sent('a'), pg_temp.later();
SELECT is(pg_temp.claim('a', remind => '30 min'), 'reminder backup missed 1', 'and another');
SELECT pg_temp.sent('a'), pg_temp.later(), lockstep.alert_ack('backup', 'known');
SELECT is(pg_temp.claim('a', remind => '30 min'), 'nothing', 'until it is acknowledged');
SELECT pg_temp.due('backup', now() + interval '1 h'), pg_temp.look(), pg_temp.look(), pg_temp.claim('a'),
       pg_temp.sent('a');
SELECT pg_temp.due('backup', now() - interval '3 h'), pg_temp.look(), pg_temp.look();
UPDATE lockstep.job_alert SET opened_at = clock_timestamp() - interval '5 min' WHERE closed_at IS NULL;
SELECT pg_temp.claim('a'), pg_temp.sent('a'), pg_temp.later();
SELECT is(pg_temp.claim('a', remind => '30 min'), 'reminder backup missed 1', 'a reminder of another incident');
SELECT pg_temp.sent('a', 'no answer'), lockstep.alert_ack('backup', 'known'), pg_temp.later();
SELECT is(pg_temp.claim('a', remind => '30 min'), 'nothing', 'is not tried again behind an acknowledgement');
SELECT is((SELECT c.wait_ms FROM lockstep.notice_claim('z', 'm', '{x}', NULL, '0 s', NULL, '1 min') AS c), NULL,
          'where nothing is to be sent there is nothing to wait for');
-- What is closed is not opened any more.
SELECT pg_temp.due('backup', now() + interval '1 h'), pg_temp.look(), pg_temp.look();
SELECT is(pg_temp.claim('late'), 'nothing', 'of an incident that was over before it could be sent nothing is');
-- A receiver that does not answer.
CREATE FUNCTION pg_temp.waiting(receiver text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', a.job, n.notice), ', ' ORDER BY n.notice_id)
    FROM lockstep.job_notice n JOIN lockstep.job_alert a USING (alert_id)
    WHERE n.receiver = waiting.receiver AND n.delivered_at IS NULL
$$;
CREATE FUNCTION pg_temp.claims(most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text[] := '{}';
BEGIN
    FOR i IN 1 .. most LOOP said := said || pg_temp.claim('down', 'r*'); END LOOP;
    RETURN array_to_string(said, ', ');
END
$$;
CREATE FUNCTION pg_temp.sent_of(p_job text, p_error text DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
    SELECT lockstep.notice_sent(n.notice_id, n.attempts, p_error)
    FROM lockstep.job_notice n JOIN lockstep.job_alert a USING (alert_id)
    WHERE n.receiver = 'down' AND n.delivered_at IS NULL AND n.is_claimed AND a.job = p_job
$$;
CREATE FUNCTION pg_temp.opened(name text) RETURNS void LANGUAGE sql AS $$
    SELECT pg_temp.watch(name, now() - interval '3 h'), pg_temp.look(), pg_temp.look();
    UPDATE lockstep.job_alert SET opened_at = clock_timestamp() - interval '5 min' WHERE job = name;
$$;
CREATE FUNCTION pg_temp.closed(name text) RETURNS void LANGUAGE sql AS $$
    SELECT pg_temp.due(name, now() + interval '1 h'), pg_temp.look(), pg_temp.look();
$$;
SELECT pg_temp.opened('r1'), pg_temp.opened('r2'), pg_temp.opened('r3');
SELECT is(pg_temp.claims(3), 'opened r1 missed 1, opened r2 missed 1, opened r3 missed 1', 'three notices');
SELECT pg_temp.closed('r1');
SELECT is(pg_temp.claims(1), 'nothing', 'while the opening of an incident that has ended is being sent');
SELECT is(pg_temp.waiting('down'), 'r1 opened, r2 opened, r3 opened', 'its end waits');
UPDATE lockstep.job_notice SET attempts = 9 WHERE receiver = 'down' AND notice = 'opened';
SELECT pg_temp.sent_of(n, 'no answer') FROM unnest('{r1,r2,r3}'::text[]) AS n;
SELECT is(pg_temp.claims(1), 'nothing', 'when it has failed, it may have arrived all the same');
SELECT is(pg_temp.waiting('down'), 'r1 opened, r2 opened, r3 opened', 'so it is not dropped');
SELECT pg_temp.opened('r4');
SELECT is(pg_temp.claims(1), 'opened r4 missed 1', 'a new notice is tried');
SELECT pg_temp.sent_of('r4');
SELECT is(pg_temp.claims(4), 'opened r1 missed 10, opened r2 missed 10, opened r3 missed 10, nothing',
    'when it was delivered, those that wait are tried at once and in order');
SELECT pg_temp.sent_of('r1');
SELECT is(pg_temp.claims(1), 'closed r1 missed 1', 'and the end of an incident follows its opening');
SELECT pg_temp.sent_of('r1');
SELECT pg_temp.sent_of('r3', 'no answer');
SELECT is(pg_temp.claims(1), 'nothing', 'one that fails waits again');
SELECT lockstep.notice_start('down');
SELECT is(pg_temp.claims(2), 'opened r3 missed 11, nothing',
    'until a monitor starts, which does not send what another one is sending');
SELECT pg_temp.sent_of('r2'), pg_temp.sent_of('r3'), lockstep.alert_ack('r3', 'known'),
       lockstep.alert_ack('r4', 'known');
SELECT pg_temp.later();
SELECT is(pg_temp.claim('down', 'r*', remind => '30 min'), 'reminder r2 missed 1', 'a reminder');
SELECT pg_temp.sent_of('r2', 'no answer'), pg_temp.closed('r2');
SELECT is(pg_temp.claims(1), 'closed r2 missed 1', 'an end does not wait for a reminder');
SELECT pg_temp.sent_of('r2', 'no answer'), pg_temp.later();
UPDATE lockstep.job_alert SET closed_at = clock_timestamp() - interval '8 days' WHERE job = 'r2';
SELECT is(concat_ws(' ', pg_temp.claims(1), pg_temp.waiting('down')), 'nothing',
    'nor is an end tried for longer than a week');
SELECT pg_temp.opened('r5'), pg_temp.claims(1);
SELECT pg_temp.closed('r5');
UPDATE lockstep.job_notice SET due_at = clock_timestamp() WHERE receiver = 'down' AND delivered_at IS NULL;
SELECT is(pg_temp.claims(1), 'opened r5 missed 2',
    'an opening whose sender has died is sent again though its incident has ended');
SELECT pg_temp.sent_of('r5', 'no answer');
UPDATE lockstep.job_alert SET closed_at = clock_timestamp() - interval '8 days' WHERE job = 'r5';
SELECT is(concat_ws(' ', pg_temp.claims(1), pg_temp.waiting('down')), 'nothing', 'for a week at most');
SELECT pg_temp.opened('r6'), lockstep.notice_claim('idle', 'm', '{x}', NULL, '0 s', NULL, '1 min');
INSERT INTO lockstep.job_notice (alert_id, receiver, notice, number, made_at, due_at)
SELECT a.alert_id, 'down', 'opened', 0, now(), now() FROM lockstep.job_alert a WHERE a.job = 'r6';
SELECT pg_temp.closed('r6');
SELECT is(concat_ws(' ', pg_temp.claims(1), pg_temp.waiting('down')), 'nothing',
    'an opening that was never tried is dropped when its incident has ended');
INSERT INTO lockstep.job_alert (job, kind, since, seen_at, last_seen_at, opened_at, text, closed_at, ended)
SELECT '', 'absent', t, t, t, t, 'x', t, 'recovered' FROM clock_timestamp() AS t;
INSERT INTO lockstep.job_notice (alert_id, receiver, notice, number, made_at, due_at)
SELECT a.alert_id, 'down', 'opened', 0, now(), now() FROM lockstep.job_alert a WHERE a.kind = 'absent'
ORDER BY a.alert_id DESC LIMIT 1;
SELECT is(pg_temp.claims(1), 'opened absent 1',
    'that of an absent monitor is sent: nothing else reports the time without looks');
SELECT pg_temp.sent_of('');
SELECT is(pg_temp.claims(1), 'closed absent 1', 'and its end follows');
SELECT pg_temp.sent_of('');
SELECT lockstep.job_delete(n) FROM unnest('{r1,r2,r3,r4,r5,r6}'::text[]) AS n;
-- The document.
SELECT is((SELECT string_agg(k, ' ' ORDER BY n) FROM json_object_keys((SELECT c.document::json
    FROM lockstep.notice_claim('a', 'm', '{*}', NULL, '0 s', NULL, '1 min') AS c)) WITH ORDINALITY
                                                    AS d(k, n)),
    'alert notice number job kind text since opened_at last_seen_at closed_at ended acknowledged_by note database '
    'receiver attempt',
    'what is sent');

-- The monitors that look, and the notices that are not delivered without one.
DELETE FROM lockstep.job_notice;
DELETE FROM lockstep.job_alert;
SELECT lockstep.job_delete(name) FROM lockstep.job;
CREATE FUNCTION pg_temp.checked(p_subject text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(c.grade || ' ' || regexp_replace(c.finding, '\d{4}-\d\d-\S+Z', 'THEN', 'g'),
                      ' / ' ORDER BY c.finding)
    FROM lockstep.check_list() AS c WHERE c.subject = p_subject
$$;
CREATE FUNCTION pg_temp.undelivered() RETURNS bigint LANGUAGE sql AS $$
    SELECT undelivered FROM lockstep.alert_receiver WHERE receiver = 'oncall'
$$;
CREATE FUNCTION pg_temp.silent(p_who text) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.monitor_process SET looked_at = clock_timestamp() - interval '3 minutes' WHERE who = p_who;
$$;
SELECT is(pg_temp.checked('monitor'), NULL, 'where no monitor ever ran, nothing is said of monitors');
SELECT is(lockstep.monitor_seen('m1', 'h1', '30 s', true), false, 'a monitor that begins is not known');
SELECT is(lockstep.monitor_seen('m1', 'h1', '30 s', false), true, 'the next time it is');
SELECT is(pg_temp.checked('monitor'),
    format('ok m1, login %s, looks every 00:00:30 since THEN; it sends to no receiver', session_user), 'it looks');
SELECT lockstep.monitor_ended('m1');
SELECT is(pg_temp.checked('monitor'), NULL, 'one without receivers that was ended is forgotten');
SELECT lockstep.monitor_seen('m1', 'h1', '30 s', true),
       lockstep.monitor_receives('m1', 'oncall', '{n-*}', '{missed}', '0 s'),
       lockstep.monitor_receives('m1', 'chat', '{*}', NULL, '1 hour');
SELECT is(pg_temp.checked('monitor'),
    format('ok m1, login %s, looks every 00:00:30 since THEN; it sends to chat, oncall', session_user),
    'one with receivers names them');
SELECT pg_temp.watch('n-1', now() - interval '3 hours'), pg_temp.watch('other', now() - interval '3 hours');
SELECT pg_temp.look(), pg_temp.look();
UPDATE lockstep.job_alert SET opened_at = clock_timestamp() - interval '10 minutes';
SELECT is((SELECT string_agg(concat_ws(' ', receiver, is_served, undelivered), ', ' ORDER BY receiver)
           FROM lockstep.alert_receiver),
    'chat t 0, oncall t 1', 'an alert that matches and is held no longer is a notice that is not delivered yet');
SELECT is(pg_temp.checked('receiver oncall'), 'warn 1 notice not delivered since THEN', 'check says so');
SELECT is(pg_temp.checked('receiver chat'), NULL, 'and nothing of a receiver that waits for nothing');
SELECT pg_temp.silent('m1');
SELECT is(pg_temp.checked('monitor'),
    format('FAIL none has looked since THEN: m1, login %s, does not look any more; nothing is sent to chat, oncall;'
           ' 1 notice not delivered; 2 alerts open', session_user), 'a dead monitor is noticed');
SELECT is((SELECT string_agg(concat_ws(' ', receiver, is_served), ', ' ORDER BY receiver) FROM lockstep.alert_receiver),
    'chat f, oncall f', 'no receiver is served then');
SELECT is((SELECT c.notice_key ~ '^alert-\d+-opened-0$' FROM lockstep.notice_claim('oncall', 'm1', '{n-*}', '{missed}',
    '0 s', NULL, '1 min') AS c), true, 'what is claimed');
SELECT is(pg_temp.undelivered(), 1::bigint, 'is not delivered yet');
SELECT lockstep.notice_sent((SELECT max(notice_id) FROM lockstep.job_notice), 1, 'no answer');
SELECT is((SELECT undelivered || ' ' || error FROM lockstep.alert_receiver WHERE receiver = 'oncall'), '1 no answer',
    'one that failed has its error');
SELECT lockstep.notice_sent((SELECT max(notice_id) FROM lockstep.job_notice), 1, NULL);
SELECT is(pg_temp.undelivered(), 0::bigint, 'until it is delivered');
SELECT pg_temp.due('n-1', now() + interval '1 hour'), pg_temp.look(), pg_temp.look();
UPDATE lockstep.job_alert SET closed_at = clock_timestamp() WHERE closed_at IS NOT NULL;
SELECT is(pg_temp.undelivered(), 1::bigint, 'an end is not delivered, either');
SELECT lockstep.monitor_seen('m2', 'h2', '30 s', true), lockstep.monitor_receives('m2', 'chat', '{*}', NULL, '0 s');
SELECT is(pg_temp.checked('receiver oncall'),
    'FAIL no monitor that looks sends to it; 1 notice not delivered since THEN',
    'a receiver that only the dead monitor had is named while another monitor looks');
SELECT is((SELECT c.hint FROM lockstep.check_list() AS c WHERE c.subject = 'receiver oncall'),
    'Add [alert:oncall] to the configuration of a monitor and start it: lockstep monitor run', 'and what helps it');
SAVEPOINT lost;
UPDATE lockstep.monitor_process SET looked_at = clock_timestamp() - interval '8 days' WHERE who = 'm1';
SELECT is((SELECT string_agg(receiver, ' ') FROM lockstep.alert_receiver), 'chat',
    'a receiver is forgotten a week after the last look of its last monitor');
ROLLBACK TO lost;
SELECT is(pg_temp.checked('monitor') ~ '^ok m2', true, 'that one is well');
SELECT lockstep.monitor_seen('m3', 'h1', '30 s', true);
SELECT is((SELECT string_agg(monitor, ' ' ORDER BY monitor) FROM lockstep.monitor_status), 'm2 m3',
    'the next monitor of a host follows the one that died there');
SELECT lockstep.monitor_ended('m2'), lockstep.monitor_ended('m3');
SELECT is(pg_temp.checked('monitor'),
    format('FAIL none has looked since THEN: m2, login %s, was ended; nothing is sent to chat; 1 notice not delivered;'
           ' 1 alert open', session_user), 'one with receivers that was ended is remembered');

-- Who may do what.
CREATE FUNCTION pg_temp.may(role text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(p.proname, ' ' ORDER BY p.proname) FROM pg_proc p
    WHERE p.pronamespace = 'lockstep'::regnamespace AND has_function_privilege(role, p.oid, 'EXECUTE')
      AND p.proname IN ('monitor_look', 'monitor_compare', 'notice_claim', 'notice_sent', 'notice_start',
                        'monitor_seen', 'monitor_receives', 'monitor_ended', 'alert_ack', 'job_silence')
$$;
SELECT is(pg_temp.may('lockstep_operator'),
    'alert_ack job_silence monitor_ended monitor_look monitor_receives monitor_seen notice_claim notice_sent '
    'notice_start',
    'an operator may do all of it');
SELECT is(pg_temp.may('lockstep_executor'), 'monitor_look', 'an executor looks');
SELECT is(pg_temp.may('lockstep_monitor'), NULL, 'a monitor''s role reads');
SET LOCAL ROLE lockstep_monitor;
SELECT (SELECT count(*) FROM lockstep.alert) > 0 AND (SELECT count(*) FROM lockstep.alert_notice) > 0
   AND (SELECT count(*) FROM lockstep.alert_receiver) > 0 AND (SELECT count(*) FROM lockstep.monitor_status) > 0
   AND (SELECT count(*) FROM lockstep.check_list()) > 0 AS sees \gset
RESET ROLE;
SELECT ok(:'sees'::boolean, 'what there is');

SELECT * FROM finish();
ROLLBACK;
