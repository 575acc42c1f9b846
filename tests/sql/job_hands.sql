-- Jobs in the hands of operators: backfill, schedules one by one, files that turn a chain round, queues that others need. tests/sql/job.sql has the rest.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't'), ('other', 'u');
CREATE FUNCTION pg_temp.spec(name text, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('job', name, 'queue', 'q', 'tasks', '[{"order": 100, "sql": "SELECT 1"}]'::jsonb) || more
$$;
CREATE FUNCTION pg_temp.ends(name text, p_status text DEFAULT 'Completed') RETURNS bigint LANGUAGE sql AS $$
    WITH ended AS (UPDATE lockstep.run r SET status = p_status, ended_at = clock_timestamp()
                   WHERE r.ended_at IS NULL AND r.job_id = (SELECT j.job_id FROM lockstep.job j WHERE j.name = ends.name) RETURNING 1)
    SELECT count(*) FROM ended
$$;
CREATE FUNCTION pg_temp.gone(VARIADIC names text[]) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
    DELETE FROM lockstep.schedule;
    DELETE FROM lockstep.job WHERE name = ANY (names);
$$;
-- What a backfill of 2020-01-01 does, in short.
CREATE FUNCTION pg_temp.fill(name text, first text, until text, overlap text DEFAULT 'allow', schedule text DEFAULT NULL, dry boolean DEFAULT false) RETURNS text LANGUAGE sql AS $$
    SELECT COALESCE(string_agg(b.action || ' ' || to_char(b.scheduled_for AT TIME ZONE 'UTC', 'HH24:MI'), ', ' ORDER BY b.scheduled_for, b.schedule_name), 'nothing')
    FROM lockstep.job_backfill(name, ('2020-01-01 ' || first || 'Z')::timestamptz, ('2020-01-01 ' || until || 'Z')::timestamptz, schedule, overlap, dry) AS b
$$;

-- Backfill.
SELECT lockstep.job_define(pg_temp.spec('b', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'));
SELECT is(pg_temp.fill('b', '06:00', '09:00', dry => true), 'fire 06:00, fire 07:00, fire 08:00', 'a dry run says what would fire; the end is not part of the range');
SELECT is((SELECT count(*) FROM lockstep.run), 0::bigint, 'and fires nothing');
SELECT is(pg_temp.fill('b', '06:00', '09:00'), 'fire 06:00, fire 07:00, fire 08:00', 'allow: all times of the range fire at once, oldest first');
SELECT is(pg_temp.fill('b', '05:00', '10:00'), 'fire 05:00, fire 09:00', 'a second one fires what has not fired, and nothing twice');
SELECT is((SELECT format('%s %s %s', count(DISTINCT run_id), min(source) = 'backfill by ' || session_user, bool_and(run_id = lockstep.job_run_id(s.schedule_uid, o.scheduled_for)))
    FROM lockstep.job_occurrence o JOIN lockstep.schedule s USING (schedule_id)), '5 t t', 'each with the id that its time has, and says who filled it');
SELECT is((SELECT string_agg(DISTINCT started_by, ', ') FROM lockstep.run), 'backfill by ' || session_user, 'and so does its run');
SELECT is((SELECT messages[1]::jsonb ->> 'run_name' FROM lockstep.enqueued LIMIT 1), 'b', 'its messages are in the outbox');
SELECT is((SELECT next_at > now() FROM lockstep.schedule), true, 'the schedule has its next time as before');
SELECT pg_temp.ends('b');
SELECT is(pg_temp.fill('b', '10:00', '13:00', 'queue_one'), 'fire 10:00, wait 11:00, wait 12:00', 'queue_one: one, the others wait');
SELECT is(pg_temp.fill('b', '10:00', '13:00', 'queue_one'), 'wait 11:00, wait 12:00', 'while its run is open');
SELECT pg_temp.ends('b');
SELECT is(pg_temp.fill('b', '10:00', '13:00', 'queue_one'), 'fire 11:00, wait 12:00', 'the next one when it has ended');
SELECT pg_temp.ends('b');
SELECT is(pg_temp.fill('b', '12:00', '15:00', 'skip'), 'fire 12:00, skip 13:00, skip 14:00', 'skip: what meets an open run is left');
SELECT pg_temp.ends('b');
SELECT is(pg_temp.fill('b', '12:00', '15:00', 'skip', dry => true), 'fire 13:00, skip 14:00', 'and so a dry run says');
-- A time that was skipped, missed or an error is fired; one that is still to be decided is the dispatcher's.
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, dispatcher)
SELECT job_id, schedule_id, ('2020-01-01 15:00Z'::timestamptz + n * interval '1 h'), ('{skipped,missed,error}'::text[])[n + 1], 's', 'd' FROM lockstep.schedule, generate_series(0, 2) AS n;
SELECT is(pg_temp.fill('b', '15:00', '18:00'), 'fire 15:00, fire 16:00, fire 17:00', 'what was skipped, missed or an error is fired');
SELECT is((SELECT string_agg(DISTINCT outcome, ' ') FROM lockstep.job_occurrence WHERE scheduled_for >= '2020-01-01 15:00Z'), 'fired', 'and is fired in the history, too');
UPDATE lockstep.schedule SET next_at = '2020-01-01 20:00Z', wake_at = '2020-01-01 20:00Z', queued_for = '2020-01-01 18:00Z';
SELECT is(pg_temp.fill('b', '18:00', '21:00'), 'leave 18:00, fire 19:00, leave 20:00', 'what waits, and what has yet to be decided, is left to the dispatcher');
SELECT pg_temp.ends('b');
UPDATE lockstep.schedule SET wake_at = '2020-01-01 20:00Z';
SELECT is((SELECT string_agg(d.verdict || to_char(d.scheduled_for AT TIME ZONE 'UTC', ' HH24:MI'), ', ') FROM generate_series(1, 2) AS n, lockstep.dispatch('test', '2020-01-01 20:00Z'::timestamptz + n * interval '1 s') AS d),
    'fire 18:00, skip 20:00', 'which meets nothing of the backfill');
SELECT pg_temp.gone('b');
-- Several schedules, disabled ones, clocks.
SELECT lockstep.job_define(pg_temp.spec('b', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}, {"name": "off", "kind": "interval", "every": "30m", "enabled": false},
    {"name": "warsaw", "kind": "daily", "times": ["08:30"], "zone": "Europe/Warsaw"}]}'));
SELECT is(pg_temp.fill('b', '07:00', '08:30', dry => true), 'fire 07:00, fire 07:30, fire 08:00', 'the schedules that are enabled, each in its zone');
SELECT is(pg_temp.fill('b', '07:00', '08:30', schedule => 'off', dry => true), 'fire 07:00, fire 07:30, fire 08:00', 'one that is named may be disabled');
SELECT pg_temp.gone('b');
SELECT lockstep.job_define(pg_temp.spec('b', '{"enabled": false, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'));
SELECT is(pg_temp.fill('b', '07:00', '09:00'), 'fire 07:00, fire 08:00', 'a job that is disabled can be filled, as it can be run by hand');
SELECT pg_temp.gone('b');
-- Refusals: each with the field, and nothing is stored.
SELECT lockstep.job_define(pg_temp.spec('b', '{"schedules": [{"name": "s", "kind": "interval", "every": "1m"}]}')), lockstep.job_define(pg_temp.spec('plain')),
    lockstep.job_define('{"job": "w", "watch": true, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}');
SELECT throws_like('SELECT lockstep.job_backfill(' || call || ')', message, message)
FROM (VALUES ($$'b', '2020-01-01Z', '2020-02-01Z'$$, 'until: the range has more than 1000 times'), ($$'b', '2020-01-02Z', '2020-01-01Z'$$, 'until: it is not after from'),
             ($$'b', '2020-01-01Z', '2220-01-01Z'$$, 'until: times that are to come are fired by the dispatcher'), ($$'b', NULL, '2020-01-01Z'$$, 'from: it is no time'),
             ($$'b', '-infinity', '2020-01-01Z'$$, 'from: it is no time'), ($$'b', '2020-01-01Z', 'infinity'$$, 'until: it is not after from'),
             ($$'b', '2020-01-01Z', '2020-01-02Z', 'nightly'$$, 'schedule: job b has no schedule "nightly" with times'),
             ($$'b', '2020-01-01Z', '2020-01-02Z', NULL, 'cancel'$$, 'overlap: "cancel" is not known'), ($$'plain', '2020-01-01Z', '2020-01-02Z'$$, 'job: plain has no schedule with times'),
             ($$'w', '2020-01-01Z', '2020-01-02Z'$$, 'job w is a watch%'), ($$'none', '2020-01-01Z', '2020-01-02Z'$$, 'there is no job none')) AS bad (call, message);
SELECT is((SELECT count(*) FROM lockstep.job_occurrence), 0::bigint, 'and nothing of it is stored');
SELECT is((SELECT count(*) FROM lockstep.job_backfill('b', '2020-01-01Z', '2020-01-01 16:40Z', dry_run => true)), 1000::bigint, 'a thousand times are as many as may be');
SELECT pg_temp.gone('b', 'plain', 'w');

SELECT * FROM finish();
ROLLBACK;
