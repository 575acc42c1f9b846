-- A job that is due while a run of it is open: a long wait, cancels, a long backlog.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');

\ir job.inc
CREATE FUNCTION pg_temp.hourly(name text, next timestamptz, job jsonb DEFAULT '{}', schedule jsonb DEFAULT '{}')
RETURNS void LANGUAGE sql AS $$
    SELECT lockstep.job_define(pg_temp.spec(name, job || jsonb_build_object('schedules',
        jsonb_build_array('{"name": "s", "kind": "interval", "every": "1h"}'::jsonb || schedule))));
    UPDATE lockstep.schedule s SET next_at = next, wake_at = next
    WHERE s.job_id = (SELECT j.job_id FROM lockstep.job j WHERE j.name = hourly.name);
$$;
-- At most p_most turns at p_now.
CREATE FUNCTION pg_temp.dispatch(p_now timestamptz, p_most int DEFAULT 50) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    d record;
    said text;
BEGIN
    FOR i IN 1..p_most LOOP
        SELECT * INTO d FROM lockstep.dispatch('test', p_now);
        EXIT WHEN d.verdict IS NULL;
        said := concat_ws(', ', said, concat_ws(' ', d.job, d.verdict,
            to_char(d.scheduled_for AT TIME ZONE 'UTC', 'HH24:MI'), CASE d.verdict WHEN 'error' THEN d.reason END));
    END LOOP;
    RETURN COALESCE(said, 'nothing');
END
$$;
CREATE FUNCTION pg_temp.gone(VARIADIC names text[]) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
    DELETE FROM lockstep.job WHERE name = ANY (names);
$$;
CREATE FUNCTION pg_temp.run_of(name text) RETURNS bigint LANGUAGE sql AS $$
    SELECT r.run_no FROM lockstep.run r JOIN lockstep.job j USING (job_id) WHERE j.name = run_of.name
    ORDER BY r.run_no DESC LIMIT 1
$$;

-- queue_one: a time that waits is not lost, however long the run takes.
SELECT pg_temp.hourly('long', '2030-01-01 06:00Z', '{"overlap": "queue_one"}', '{"catchup_window": "30m"}');
SELECT is(concat_ws('; ', pg_temp.dispatch('2030-01-01 06:00Z'), pg_temp.dispatch('2030-01-01 07:00Z'),
                    pg_temp.dispatch('2030-01-01 08:00Z'), pg_temp.dispatch('2030-01-01 09:00Z')),
    'long fire 06:00; long queue 07:00; long skip 08:00; long skip 09:00',
    'one time waits for the run, the later ones are skipped');
SELECT pg_temp.ends('long');
SELECT is(pg_temp.dispatch('2030-01-01 09:50Z'), 'long fire 07:00',
          'it fires when the run has ended, however old it is by then');
SELECT is((SELECT source FROM lockstep.occurrence WHERE job = 'long' AND scheduled_for = '2030-01-01 07:00Z'),
          'schedule s', 'and is no misfire');
SELECT pg_temp.ends('long');
SELECT is(pg_temp.dispatch('2030-01-01 10:00Z'), 'long fire 10:00', 'then the times are in turn again');
SELECT pg_temp.gone('long');

-- Times that passed before the one that waits are not lost: the occurrence that it becomes has them, however that ends.
CREATE FUNCTION pg_temp.behind(p_overlap text, p_then text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    PERFORM pg_temp.hourly('behind', '2030-01-01 06:00Z', jsonb_build_object('overlap', p_overlap),
                           '{"catchup_window": "5h"}'),
    pg_temp.dispatch('2030-01-01 06:00Z');
    IF p_overlap = 'cancel' THEN -- a task of it runs, so it does not end at once
        UPDATE lockstep.run
        SET status = 'Running', started_at = clock_timestamp(), first_offset = 1, tasks = 1, phases = 1
        WHERE run_no = pg_temp.run_of('behind');
        WITH p AS (INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, opened_at)
                   SELECT r.run_no, r.queue_id, 100, 0, clock_timestamp() FROM lockstep.run r
                   WHERE r.run_no = pg_temp.run_of('behind') RETURNING *)
        INSERT INTO lockstep.task (phase_id, run_no, queue_id, "order", seq, kafka_offset, payload, status)
        SELECT p.phase_id, p.run_no, p.queue_id, p."order", 1, 1000 * p.run_no, '{}', 'Pending' FROM p;
    END IF;
    said := pg_temp.dispatch('2030-01-01 09:30Z', 1);
    CASE p_then
        WHEN 'ends' THEN
            PERFORM pg_temp.ends('behind');
        WHEN 'is edited' THEN
            PERFORM lockstep.job_set('behind', '{"schedules": [{"name": "s", "kind": "interval", "every": "2h"}]}');
        WHEN 'cannot fire' THEN
            PERFORM pg_temp.ends('behind');
            PERFORM pg_temp.breaks('behind');
    END CASE;
    PERFORM pg_temp.dispatch('2030-01-01 09:31Z');
    said := said || (SELECT format('; %s, for %s, %s times from %s on', o.outcome,
                                   to_char(o.scheduled_for AT TIME ZONE 'UTC', 'HH24:MI'), o.missed_count,
                                   to_char(o.missed_from AT TIME ZONE 'UTC', 'HH24:MI'))
                     FROM lockstep.occurrence o WHERE o.job = 'behind' AND o.scheduled_for = '2030-01-01 09:00Z');
    said := said || (SELECT format('; waits %s, %s, %s', s.queued_for, s.queued_missed_from, s.queued_missed)
                     FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'behind');
    PERFORM pg_temp.gone('behind');
    RETURN said;
END
$$;
SELECT pg_temp.hourly('broken', '2030-01-01 06:00Z', '{}', '{"catchup_window": "5h"}');
SELECT pg_temp.breaks('broken');
SELECT matches(pg_temp.dispatch('2030-01-01 09:30Z', 1), 'broken error 09:00',
               'a firing that fails after times that passed');
SELECT results_eq(
    $$SELECT scheduled_for, outcome, missed_from, missed_count FROM lockstep.occurrence WHERE job = 'broken'$$,
    $$VALUES ('2030-01-01 09:00Z'::timestamptz, 'error', '2030-01-01 06:00Z'::timestamptz, 3)$$, 'has them');
SELECT pg_temp.gone('broken');
SELECT is(pg_temp.behind(overlap, what),
          format('behind %s 09:00; %s, for 09:00, 2 times from 07:00 on; waits , , 0', verdict, outcome),
          format('overlap %s: the times before the one that waits are counted when its job %s', overlap, what))
FROM (VALUES ('queue_one', 'queue'), ('cancel', 'cancel')) AS o (overlap, verdict),
     (VALUES ('ends', 'fired'), ('is edited', 'skipped'), ('cannot fire', 'error')) AS t (what, outcome);

-- The schedule is removed: the time that waits is no time of it any more, and the history says so.
SELECT pg_temp.hourly('removed', '2030-01-01 06:00Z', '{"overlap": "queue_one"}', '{"catchup_window": "5h"}'),
       pg_temp.dispatch('2030-01-01 06:00Z'), pg_temp.dispatch('2030-01-01 09:30Z', 1),
       lockstep.schedule_remove('removed', 's');
SELECT results_eq(
    $$SELECT outcome, scheduled_for, missed_from, missed_count, source, reason FROM lockstep.occurrence
      WHERE job = 'removed' AND outcome <> 'fired'$$,
    $$VALUES ('skipped', '2030-01-01 09:00Z'::timestamptz, '2030-01-01 07:00Z'::timestamptz, 2, 'schedule s',
              'the schedule was removed before it fired')$$,
    'a time that waits when its schedule is removed is skipped');
SELECT pg_temp.gone('removed');
SELECT pg_temp.hourly('removed', now() - interval '5 s'), lockstep.schedule_remove('removed', 's');
SELECT is((SELECT format('%s %s', outcome, scheduled_for = now() - interval '5 s') FROM lockstep.occurrence
           WHERE job = 'removed'), 'skipped t', 'and so is one that is due');
SELECT pg_temp.gone('removed');

-- cancel: in every state of the run.
CREATE FUNCTION pg_temp.cancelled(p_status text, p_tasks text[], p_paused boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    no bigint;
    said text;
BEGIN
    PERFORM pg_temp.hourly('c', '2030-01-01 06:00Z', '{"overlap": "cancel"}'), pg_temp.dispatch('2030-01-01 06:00Z');
    no := pg_temp.run_of('c');
    IF p_tasks IS NOT NULL THEN
        UPDATE lockstep.run SET status = p_status, started_at = clock_timestamp(), first_offset = 1,
                                tasks = cardinality(p_tasks), phases = 1,
            paused_at = CASE p_status WHEN 'Paused' THEN clock_timestamp() END,
            paused_by = CASE p_status WHEN 'Paused' THEN 'operator' END
        WHERE run_no = no;
        WITH p AS (INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, opened_at)
                   SELECT r.run_no, r.queue_id, 100, 0, clock_timestamp() FROM lockstep.run r WHERE r.run_no = no
                   RETURNING *)
        INSERT INTO lockstep.task (phase_id, run_no, queue_id, "order", seq, kafka_offset, payload, status,
                                   scheduled_for)
        SELECT p.phase_id, p.run_no, p.queue_id, p."order", t.n, t.n + 1000 * no, '{}', t.status::lockstep.status,
               clock_timestamp() + interval '1 day'
        FROM p, unnest(p_tasks) WITH ORDINALITY AS t (status, n);
    END IF;
    UPDATE lockstep.queue SET paused = p_paused, paused_at = CASE WHEN p_paused THEN clock_timestamp() END;
    said := pg_temp.dispatch('2030-01-01 07:00Z');
    said := said || '; ' || (SELECT r.status FROM lockstep.run r WHERE r.run_no = no);
    UPDATE lockstep.queue SET paused = false, paused_at = NULL;
    PERFORM pg_temp.gone('c');
    RETURN said;
END
$$;
SELECT is(pg_temp.cancelled(status, tasks, paused), 'c cancel 07:00, c fire 07:00; Cancelled',
          format('overlap cancel: a run %s, tasks %s%s, is cancelled, and the time fires', status,
                 COALESCE(tasks::text, 'on the topic'), CASE WHEN paused THEN ', queue paused' ELSE '' END))
FROM (VALUES ('Publishing', NULL), ('Running', '{Pending,Pending}'::text[]), ('Running', '{Completed,Error}'),
             ('Running', '{Paused}'), ('Paused', '{Failed,Pending}'))
    AS r (status, tasks),
     unnest('{false,true}'::boolean[]) AS paused;

-- A trigger cannot cancel: the run that it would cancel is at work on the rows.
SELECT pg_temp.hourly('c', '2030-01-01 06:00Z', '{"overlap": "cancel"}'), pg_temp.dispatch('2030-01-01 06:00Z');
SELECT is((SELECT d.verdict || ' ' || (d.run = r.run_id)
           FROM lockstep.run r, lockstep.dispatch('test', '2030-01-01 07:00Z') AS d
           WHERE r.run_no = pg_temp.run_of('c')),
    'cancel true', 'the dispatcher says which run it is');
SELECT is((SELECT l.job || ' ' || l.detail FROM lockstep.event_log l
           WHERE l.run_no = pg_temp.run_of('c') AND l.event = 'run_cancelled'),
    'c 0 tasks cancelled, 0 to be stopped: job c is due again', 'and the event names the job');
SELECT pg_temp.ends('c'), pg_temp.gone('c');
SELECT throws_like(format('SELECT lockstep.job_define(%L)',
    pg_temp.spec('t', '{"overlap": "cancel", "trigger": {"on": "lockstep.queue", "threshold": 1}}')),
    'overlap: a trigger cancels no run%', 'overlap cancel of a trigger is refused');

-- A long backlog does not keep other jobs waiting: one of its times, then what else is due.
SELECT pg_temp.hourly('all', '2030-01-01 06:00Z', '{"overlap": "allow"}',
                      '{"misfire": "all", "catchup_window": "5h"}'),
       pg_temp.hourly('other', '2030-01-01 10:05Z'), pg_temp.hourly('third', '2030-01-01 10:07Z');
SELECT is(pg_temp.dispatch('2030-01-01 10:10Z'),
    'all fire 06:00, other fire 10:05, third fire 10:07, all fire 07:00, all fire 08:00, all fire 09:00, all fire '
    '10:00',
    'misfire all takes turns with other jobs');
SELECT pg_temp.gone('all', 'other', 'third');

-- A run that fired and that no executor ever claims: it is named, with the remedy, and makes room in the end.
CREATE FUNCTION pg_temp.health() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', state, is_problem, regexp_replace(detail, '[0-9a-f-]{36}', 'ID', 'g'))
    FROM lockstep.job_health WHERE job = 'lost'
$$;
CREATE FUNCTION pg_temp.lost(p_age interval) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.run SET created_at = now() - p_age, published_at = now() - p_age
    WHERE run_no = pg_temp.run_of('lost');
    DELETE FROM lockstep.enqueued WHERE run_no = pg_temp.run_of('lost');
    UPDATE lockstep.executor SET ended_at = NULL; -- it has no session, and the one that cancels takes it for dead
$$;
SELECT pg_temp.hourly('lost', '2030-01-01 06:00Z'), pg_temp.dispatch('2030-01-01 06:00Z');
INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues, started_at)
VALUES (gen_random_uuid(), 'h', 1, 'v', 1, '{q}', now() - interval '2 h');
SELECT is(pg_temp.health(), 'running f run ID', 'a run that has just fired runs');
UPDATE lockstep.run SET created_at = now() - interval '6 min' WHERE run_no = pg_temp.run_of('lost');
SELECT is(pg_temp.health(), 'stuck t nothing of run ID was claimed: lockstep run explain ID',
          'one that is not relayed is stuck');
SELECT pg_temp.lost('4 min');
SELECT is(pg_temp.health(), 'running f run ID', 'one that was published just now runs');
SELECT pg_temp.lost('6 min');
SELECT is(pg_temp.health(), 'stuck t nothing of run ID was claimed: lockstep run explain ID',
          'one of which nobody claims anything is stuck');
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, first_offset)
SELECT gen_random_uuid(), queue_id, 'stop', 'Running', 0 FROM lockstep.queue;
SELECT is(pg_temp.health(), 'running f run ID', 'unless the queue is at work on another one');
UPDATE lockstep.run SET ended_at = now(), status = 'Completed' WHERE first_offset = 0;
UPDATE lockstep.executor SET started_at = now() - interval '1 min';
SELECT is(pg_temp.health(), 'running f run ID', 'or its executor has just begun');
UPDATE lockstep.executor SET started_at = now() - interval '2 h';
SELECT is(pg_temp.overdue(), 0::bigint, 'it is not cancelled at once');
SELECT pg_temp.lost('31 min');
INSERT INTO lockstep.relay (queue_id, kind, next_offset) SELECT queue_id, 'enqueue', 10 FROM lockstep.queue;
SELECT is(pg_temp.overdue(), 0::bigint, 'nor while something of it may be on the topic');
UPDATE lockstep.queue SET next_offset = 10;
SELECT is(pg_temp.overdue(), 1::bigint, 'after zombie_after it is, when the topic was read to its end');
SELECT is((SELECT format('%s %s', l.event, r.status) FROM lockstep.job_log l JOIN lockstep.run r USING (run_id)
           WHERE l.event = 'zombie'),
          'zombie Cancelled', 'and the log says so');
SELECT is(pg_temp.dispatch('2030-01-01 07:00Z'), 'lost fire 07:00', 'so the next time fires');
SELECT pg_temp.lost('6 min');
SELECT is((lockstep.run_cancel((SELECT open_run FROM lockstep.job_health WHERE job = 'lost'))).status, 'Cancelled',
          'the remedy by hand: run cancel');
SELECT is(pg_temp.dispatch('2030-01-01 08:00Z'), 'lost fire 08:00', 'and the job fires again');

-- A run that cannot be cancelled keeps no other job's from being so.
SELECT pg_temp.gone('lost');
SELECT pg_temp.hourly(name, '2030-01-01 06:00Z', '{"max_runtime": "1h"}') FROM unnest('{first,second}'::text[]) AS name;
SELECT pg_temp.dispatch('2030-01-01 06:00Z');
UPDATE lockstep.run SET created_at = now() - interval '2 h', reopened_at = now() - interval '30 min'
WHERE ended_at IS NULL;
SELECT is(pg_temp.overdue(), 0::bigint, 'a run that was retried has max_runtime again');
UPDATE lockstep.run SET reopened_at = CASE WHEN run_no = pg_temp.run_of('first') THEN now() - interval '61 min' END
WHERE ended_at IS NULL;
CREATE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
SELECT format('CREATE TRIGGER refuse BEFORE UPDATE ON lockstep.run FOR EACH ROW WHEN (OLD.run_no = %s) EXECUTE '
              'FUNCTION pg_temp.refuse()',
              pg_temp.run_of('first')) \gexec
SELECT is(pg_temp.overdue(), 1::bigint,
    'of two runs that are too long, of which one cannot be cancelled, the other one is');
SELECT is((SELECT string_agg(j.name || ' ' || (r.cancelled_at IS NOT NULL), ', ' ORDER BY j.name)
           FROM lockstep.run r JOIN lockstep.job j USING (job_id) WHERE r.created_at = now() - interval '2 h'),
          'first false, second true', 'which has a higher number');
SELECT is(pg_temp.overdue(), 0::bigint, 'the next look finds the first one again');
SELECT is((SELECT string_agg(message, '; ') FROM lockstep.job_log WHERE job = 'first' AND event = 'error'),
          'the run is to be cancelled, and cannot be: P0001: not this one', 'its job''s log says why, once');
DROP TRIGGER refuse ON lockstep.run;
SELECT is((SELECT string_agg(format('%s %s %s', o.job, o.run = r.run_id, o.why), ', ') FROM lockstep.job_overdue() AS o
        LEFT JOIN lockstep.run r ON r.run_no = pg_temp.run_of('first')), 'first t longer than max_runtime, 01:00:00',
    'and cancels it when that is possible, and says which it is');
SELECT is((SELECT string_agg(format('%s %s', l.job, l.detail), '; ' ORDER BY l.job) FROM lockstep.event_log l
           WHERE l.event = 'run_cancelled' AND l.job IN ('first', 'second')),
    'first 0 tasks cancelled, 0 to be stopped: job first: longer than max_runtime, 01:00:00; '
    'second 0 tasks cancelled, 0 to be stopped: job second: longer than max_runtime, 01:00:00',
    'the log of events names the job, too');
SELECT pg_temp.gone('first', 'second');
SELECT pg_temp.hourly('lost', '2030-01-01 06:00Z'), pg_temp.dispatch('2030-01-01 09:00Z');

-- What the monitor finds late and stuck is named so in the log.
SELECT pg_temp.lost('6 min'), lockstep.monitor_look('t', '1 min', '2030-01-01Z'),
       lockstep.monitor_look('t', '1 min', '2030-01-01 00:01Z'),
       lockstep.monitor_look('t', '1 min', '2030-01-01 00:02Z');
SELECT is((SELECT regexp_replace(event || ': ' || message, '[0-9a-f-]{36}', 'ID', 'g') FROM lockstep.job_log
           WHERE source = 'monitor'),
          'stuck: nothing of run ID was claimed: lockstep run explain ID', 'stuck');
SELECT pg_temp.ends('lost');
UPDATE lockstep.job_occurrence SET scheduled_for = decided_at - interval '3 h'
WHERE run_id = (SELECT r.run_id FROM lockstep.run r WHERE r.run_no = pg_temp.run_of('lost'));
DELETE FROM lockstep.job_occurrence WHERE scheduled_for > now();
SELECT lockstep.monitor_look('t', '1 min', '2030-01-01 00:03Z'),
       lockstep.monitor_look('t', '1 min', '2030-01-01 00:04Z'),
       lockstep.monitor_look('t', '1 min', '2030-01-01 00:05Z');
SELECT is((SELECT string_agg(event, ' ' ORDER BY job_event_id) FROM lockstep.job_log WHERE source = 'monitor'),
          'stuck late alert', 'and late; the last line says that stuck is over');
SELECT pg_temp.gone('lost');

SELECT * FROM finish();
ROLLBACK;
