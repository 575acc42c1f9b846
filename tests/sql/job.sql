-- Jobs (sql/functions/job/): the decision of a schedule at a moment, the rows of a firing, the effect of a change, and
-- refusals. The moments are given, so that nothing waits; that the test button agrees with the dispatcher is shown
-- with random states.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');

\ir job.inc
-- A job that is due every hour, and from when on.
CREATE FUNCTION pg_temp.hourly(name text, next timestamptz, job jsonb DEFAULT '{}', schedule jsonb DEFAULT '{}')
RETURNS void LANGUAGE sql AS $$
    SELECT lockstep.job_define(pg_temp.spec(name, job || jsonb_build_object('schedules',
        jsonb_build_array('{"name": "s", "kind": "interval", "every": "1h"}'::jsonb || schedule))));
    UPDATE lockstep.schedule s SET next_at = next, wake_at = next
    WHERE s.job_id = (SELECT j.job_id FROM lockstep.job j WHERE j.name = hourly.name);
$$;
-- Dispatches at p_now until nothing is due: the decisions, in short.
CREATE FUNCTION pg_temp.dispatch(p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    d record;
    said text;
BEGIN
    FOR i IN 1..50 LOOP
        SELECT * INTO d FROM lockstep.dispatch('test', p_now);
        EXIT WHEN d.verdict IS NULL;
        said := concat_ws(', ', said, concat_ws(' ', d.job, d.verdict,
            to_char(d.scheduled_for AT TIME ZONE 'UTC', 'HH24:MI'), CASE d.verdict WHEN 'error' THEN d.reason END));
    END LOOP;
    RETURN COALESCE(said, 'nothing');
END
$$;
-- What follows has its turn at that moment of 2030, not at that of the clock.
CREATE FUNCTION pg_temp.turn(p_at timestamptz) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.schedule SET wake_at = p_at, due_at = p_at WHERE after_job IS NOT NULL AND wake_at IS NOT NULL
$$;
-- An undone time: the occurrences of the job were never written.
CREATE FUNCTION pg_temp.set_back(name text, next timestamptz) RETURNS void LANGUAGE sql AS $$
    DELETE FROM lockstep.job_occurrence o USING lockstep.job j WHERE j.job_id = o.job_id AND j.name = set_back.name;
    UPDATE lockstep.schedule s SET next_at = next, wake_at = next FROM lockstep.job j
    WHERE j.job_id = s.job_id AND j.name = set_back.name;
$$;
CREATE FUNCTION pg_temp.gone(VARIADIC names text[]) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
    DELETE FROM lockstep.job WHERE name = ANY (names);
$$;

-- Due, not due, and a firing as one whole.
SELECT pg_temp.hourly('a', '2030-01-01 06:00Z');
SELECT is(pg_temp.dispatch('2030-01-01 05:59:59.999Z'), 'nothing', 'before its time nothing fires');
SELECT is((SELECT d.wait_us FROM lockstep.dispatch('test', '2030-01-01 05:59:58Z') AS d), 2000000::bigint,
          'and the dispatcher knows how long');
SELECT is(pg_temp.dispatch('2030-01-01 06:00Z'), 'a fire 06:00', 'at its time it fires');
SELECT is((SELECT format('%s %s %s %s', o.outcome, o.source, o.dispatcher, r.started_by)
           FROM lockstep.occurrence o JOIN lockstep.run r USING (run_id)),
    'fired schedule s test schedule s', 'with its occurrence, and the run says what started it');
SELECT is((SELECT cardinality(messages) FROM lockstep.enqueued), 2, 'and its run is in the outbox');
SELECT is(pg_temp.dispatch('2030-01-01 06:00Z'), 'nothing', 'once');
SELECT pg_temp.ends('a');
SELECT is((SELECT format('%s %s', o.status, o.ended_at IS NOT NULL) FROM lockstep.occurrence o), 'Completed t',
          'the occurrence knows how its run ended');
SELECT is((SELECT string_agg(event, ' ' ORDER BY job_event_id) FROM lockstep.job_log), 'changed fired completed',
          'and so does the log');
SELECT is((SELECT attempts FROM lockstep.occurrence), NULL, 'nothing of it was claimed: it has no attempts');
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order)
SELECT r.run_no, r.queue_id, o, o - 1 FROM lockstep.run r, unnest('{1,2}'::int[]) AS o;
INSERT INTO lockstep.task (phase_id, run_no, queue_id, status, "order", kafka_offset, payload, attempt_num,
                           max_attempts)
SELECT p.phase_id, p.run_no, p.queue_id, 'Completed', p."order", p."order", 'SELECT 1', 5 - 2 * p."order", 3
FROM lockstep.phase p;
SELECT is((SELECT attempts FROM lockstep.occurrence), 3, 'then as many as the task that had most of them');
DELETE FROM lockstep.phase;

-- A database that was set back fires the same run again, and no second one.
SELECT run_id AS first FROM lockstep.occurrence \gset
SELECT pg_temp.set_back('a', '2030-01-01 06:00Z');
SELECT is(pg_temp.dispatch('2030-01-01 06:00Z'), 'a fire 06:00', 'after a set-back the time is decided again');
SELECT is((SELECT format('%s %s', count(*), min(run_id::text) = :'first') FROM lockstep.run), '1 t',
          'and its run is the one that is known already');
SELECT pg_temp.gone('a');

-- What was missed.
SELECT pg_temp.hourly('once', '2030-01-01 06:00Z');
SELECT is(pg_temp.dispatch('2030-01-01 10:10Z'), 'once fire 10:00', 'misfire once: the latest time fires');
SELECT is((SELECT format('%s %s %s', source, missed_count, missed_from = '2030-01-01 06:00Z')
           FROM lockstep.occurrence),
          'misfire of schedule s, for 5 4 t', 'and tells which it stands for');
SELECT pg_temp.gone('once');
SELECT pg_temp.hourly('skip', '2030-01-01 06:00Z', schedule => '{"misfire": "skip"}');
SELECT is(pg_temp.dispatch('2030-01-01 10:10Z'), 'skip miss 10:00', 'misfire skip: none fires');
SELECT is((SELECT reason FROM lockstep.occurrence WHERE job = 'skip'),
    'no dispatcher was at work within 00:01:00; missed 5 times since 2030-01-01 06:00:00, last 2030-01-01 10:00:00 UTC',
    'and the reason says how many times have passed');
SELECT is((SELECT message FROM lockstep.job_log WHERE job = 'skip' AND event = 'missed'),
    (SELECT reason FROM lockstep.occurrence WHERE job = 'skip'), 'as the log of the job does');
SELECT is(pg_temp.dispatch('2030-01-01 11:00:30Z'), 'skip fire 11:00', 'but the next one, which is in time');
SELECT pg_temp.gone('skip');
SELECT pg_temp.hourly('late', '2030-01-01 06:00Z', schedule => '{"catchup_window": "30m", "every": "24h"}');
SELECT is(pg_temp.dispatch('2030-01-01 06:31Z'), 'late miss 06:00', 'older than the window is missed');
SELECT is((SELECT outcome FROM lockstep.occurrence), 'missed', 'and stands there as missed');
SELECT pg_temp.gone('late');
SELECT pg_temp.hourly('all', '2030-01-01 06:00Z', '{"overlap": "allow"}', '{"misfire": "all", "catchup_window": "3h"}');
SELECT is(pg_temp.dispatch('2030-01-01 10:10Z'), 'all fire 08:00, all fire 09:00, all fire 10:00',
          'misfire all: each that is young enough, oldest first');
SELECT pg_temp.gone('all');
SELECT pg_temp.hourly('all', '2030-01-01 08:00Z', '{}', '{"misfire": "all", "catchup_window": "3h"}');
SELECT is(pg_temp.dispatch('2030-01-01 09:10Z'), 'all fire 08:00, all wait',
          'of a job that does not overlap the second waits');
SELECT pg_temp.ends('all');
SELECT is(pg_temp.dispatch('2030-01-01 09:11Z'), 'all fire 09:00', 'until the first one has ended');
SELECT pg_temp.gone('all');

-- Overlap.
SELECT pg_temp.hourly('o', '2030-01-01 06:00Z');
SELECT is(pg_temp.dispatch('2030-01-01 06:00Z') || '; ' || pg_temp.dispatch('2030-01-01 07:00Z'),
          'o fire 06:00; o skip 07:00', 'overlap skip: while its run is open it does not fire again');
SELECT ok((SELECT reason ~ '^run .* of the job is Publishing since' FROM lockstep.occurrence
           WHERE outcome = 'skipped'),
          'and says why');
SELECT pg_temp.gone('o');
SELECT pg_temp.hourly('o', '2030-01-01 06:00Z', '{"overlap": "queue_one"}');
SELECT is(pg_temp.dispatch('2030-01-01 06:00Z') || '; ' || pg_temp.dispatch('2030-01-01 07:00Z') || '; ' ||
          pg_temp.dispatch('2030-01-01 08:00Z'),
    'o fire 06:00; o queue 07:00; o skip 08:00', 'overlap queue_one: one waits, the next one is skipped');
SELECT pg_temp.ends('o');
SELECT is(pg_temp.dispatch('2030-01-01 08:30Z'), 'o fire 07:00', 'and fires when the run has ended');
SELECT pg_temp.gone('o');
SELECT pg_temp.hourly('o', '2030-01-01 06:00Z', '{"overlap": "allow"}');
SELECT is(pg_temp.dispatch('2030-01-01 06:00Z') || '; ' || pg_temp.dispatch('2030-01-01 07:00Z'),
          'o fire 06:00; o fire 07:00', 'overlap allow: both');
SELECT pg_temp.gone('o');
SELECT pg_temp.hourly('o', '2030-01-01 06:00Z', '{"overlap": "cancel"}');
SELECT pg_temp.dispatch('2030-01-01 06:00Z');
SELECT is(pg_temp.dispatch('2030-01-01 07:00Z'), 'o cancel 07:00, o fire 07:00',
          'overlap cancel: the run is asked to end, and when it has, the time fires');
SELECT is((SELECT count(*) FROM lockstep.run r JOIN lockstep.job j USING (job_id)
           WHERE j.name = 'o' AND r.cancelled_at IS NOT NULL AND r.ended_at IS NOT NULL),
          1::bigint, 'it has');
SELECT throws_ok($$SELECT lockstep.job_run('o')$$, 'LS002', NULL, 'by hand the guard holds, too');
SELECT pg_temp.gone('o');

-- After another job.
SELECT pg_temp.hourly('parent', '2030-01-01 06:00Z');
SELECT lockstep.job_define(pg_temp.spec('good', '{"schedules": [{"name": "s", "kind": "after", "job": "parent"}]}')),
       lockstep.job_define(pg_temp.spec('bad',
           '{"schedules": [{"name": "s", "kind": "after", "job": "parent", "on": "failure"}]}')),
       lockstep.job_define(pg_temp.spec('any',
           '{"schedules": [{"name": "s", "kind": "after", "job": "parent", "on": "always"}]}'));
SELECT pg_temp.dispatch('2030-01-01 06:00Z');
SELECT pg_temp.ends('parent'), pg_temp.turn('2030-01-01 06:01Z');
SELECT is(pg_temp.dispatch('2030-01-01 06:01Z') IN ('good fire 06:00, any fire 06:00',
                                                    'any fire 06:00, good fire 06:00'),
          true, 'after success: those that follow it, for its time');
SELECT is((SELECT started_by FROM lockstep.run r JOIN lockstep.job j USING (job_id) WHERE j.name = 'good'),
          'after parent (Completed)', 'and say so');
SELECT pg_temp.ends('good'), pg_temp.ends('any'), pg_temp.dispatch('2030-01-01 07:00Z'),
       pg_temp.ends('parent', 'Failed'), pg_temp.turn('2030-01-01 07:01Z');
SELECT is(pg_temp.dispatch('2030-01-01 07:01Z') IN ('bad fire 07:00, any fire 07:00',
                                                    'any fire 07:00, bad fire 07:00'),
          true, 'after a failure: the others');
SELECT lockstep.job_set('good', '{"overlap": "queue_one"}');
SELECT pg_temp.ends('any'), pg_temp.ends('bad'), pg_temp.dispatch('2030-01-01 08:00Z'), pg_temp.ends('parent'),
       pg_temp.turn('2030-01-01 08:01Z');
SELECT pg_temp.dispatch('2030-01-01 08:01Z'), pg_temp.dispatch('2030-01-01 09:00Z'), pg_temp.ends('parent'),
       pg_temp.turn('2030-01-01 09:01Z');
SELECT matches(pg_temp.dispatch('2030-01-01 09:01Z'), 'good queue 09:00',
               'a job that follows another may wait for its own run');
SELECT is(pg_temp.dispatch('2030-01-01 09:02Z'), 'good wait', 'and is looked at once, not again and again');
SELECT pg_temp.ends('good');
SELECT is(pg_temp.dispatch('2030-01-01 09:03Z'), 'good fire 09:00', 'until the run has ended');
SELECT is(pg_temp.dispatch('2030-01-01 09:04Z'), 'nothing', 'and then no more');
SELECT throws_ok($$SELECT lockstep.job_delete('parent')$$, 'LS002', NULL, 'what others follow is not deleted');
SELECT throws_like(
    $$SELECT lockstep.job_set('parent', '{"schedules": [{"name": "s", "kind": "after", "job": "good"}]}')$$,
    '%would run after itself%', 'a circle is refused');
SELECT pg_temp.gone('good', 'bad', 'any');
SELECT pg_temp.gone('parent');

-- An error is written, and holds up no other job.
SELECT pg_temp.hourly('broken', '2030-01-01 06:00Z'), pg_temp.hourly('well', '2030-01-01 06:00Z');
SELECT pg_temp.breaks('broken');
SELECT matches(pg_temp.dispatch('2030-01-01 06:00Z'), 'broken error .*task 1: it has no "order"',
               'a job that cannot be fired is an error');
SELECT is((SELECT outcome FROM lockstep.occurrence WHERE job = 'well'), 'fired', 'and the others fire');
SELECT is((SELECT outcome || ' ' || reason FROM lockstep.occurrence WHERE job = 'broken'),
          'error 22023: task 1: it has no "order"', 'its occurrence says so');
SELECT is((SELECT next_at > now() FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
           WHERE j.name = 'broken'),
          true, 'and it goes on with its next time');
SELECT pg_temp.gone('broken', 'well');

-- Several firings in one transaction.
CREATE FUNCTION pg_temp.batch(p_now timestamptz, p_most int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(COALESCE(d.job || ' ' || d.verdict, 'wait ' || (d.wait_us IS NOT NULL)), ', ' ORDER BY d.n)
    FROM lockstep.dispatch('test', p_now, true, p_most) WITH ORDINALITY
        AS d (verdict, job, schedule, scheduled_for, run, reason, wait_us, token, look, mark, query, words, n)
$$;
-- Due one after the other; job is of the second.
CREATE FUNCTION pg_temp.three(job jsonb DEFAULT '{}') RETURNS void LANGUAGE sql AS $$
    SELECT pg_temp.hourly('b1', '2030-01-01 06:00:01Z');
    SELECT pg_temp.hourly('b2', '2030-01-01 06:00:02Z', job);
    SELECT pg_temp.hourly('b3', '2030-01-01 06:00:03Z');
$$;
SELECT pg_temp.three();
SELECT is(pg_temp.batch('2030-01-01 06:00:03Z', 10), 'b1 fire, b2 fire, b3 fire',
          'what is due fires in one transaction');
SELECT is((SELECT count(DISTINCT o.run_id) FROM lockstep.occurrence o JOIN lockstep.enqueued e USING (run_id)
           WHERE o.job ~ '^b[123]$'),
          3::bigint, 'each once, with a run in the outbox');
SELECT is(pg_temp.batch('2030-01-01 06:00:03Z', 10), 'wait true', 'then nothing is due');
SELECT pg_temp.gone('b1', 'b2', 'b3');
SELECT pg_temp.three();
SELECT is(pg_temp.batch('2030-01-01 06:00:03Z', 2), 'b1 fire, b2 fire', 'no more than the caller wants');
SELECT is(pg_temp.batch('2030-01-01 06:00:03Z', 2), 'b3 fire', 'the rest is next');
SELECT pg_temp.gone('b1', 'b2', 'b3');
SELECT pg_temp.three();
SELECT pg_temp.breaks('b2');
SELECT is(pg_temp.batch('2030-01-01 06:00:03Z', 10), 'b1 fire, b2 error, b3 fire',
          'one that fails takes no other with it');
SELECT is((SELECT string_agg(o.job || ' ' || o.outcome || ' ' || (e.run_id IS NOT NULL), ', ' ORDER BY o.job)
           FROM lockstep.occurrence o LEFT JOIN lockstep.enqueued e USING (run_id) WHERE o.job ~ '^b[123]$'),
    'b1 fired true, b2 error false, b3 fired true', 'and leaves nothing but its error');
SELECT pg_temp.gone('b1', 'b2', 'b3');
SELECT pg_temp.three('{"overlap": "cancel"}');
SELECT is(pg_temp.batch('2030-01-01 06:00:03Z', 10), 'b1 fire', 'what may have to cancel a run');
SELECT is(pg_temp.batch('2030-01-01 06:00:03Z', 10), 'b2 fire', 'has a transaction of its own');
SELECT is(pg_temp.batch('2030-01-01 06:00:03Z', 10), 'b3 fire', 'and so has what comes behind it');
SELECT pg_temp.gone('b1', 'b2', 'b3');
SELECT pg_temp.three(jsonb_build_object('tasks',
    (SELECT jsonb_agg(jsonb_build_object('order', 1, 'sql', 'SELECT ' || gen_random_uuid()::text))
     FROM generate_series(1, 300))));
SELECT is(pg_temp.batch('2030-01-01 06:00:03Z', 10), 'b1 fire', 'a large template');
SELECT is(pg_temp.batch('2030-01-01 06:00:03Z', 10), 'b2 fire', 'has one, too');
SELECT pg_temp.gone('b1', 'b2', 'b3');

-- Changes fire nothing.
SELECT pg_temp.hourly('c', '2030-01-01 06:00Z');
SELECT is(lockstep.job_set('c', '{"description": "another"}'), 2, 'a change is a new version');
SELECT is((SELECT next_at FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'c'),
          '2030-01-01 06:00Z'::timestamptz, 'and leaves the times of a schedule that is as it was');
SELECT lockstep.job_set('c', '{"schedules": [{"name": "s", "kind": "interval", "every": "2h"}]}');
SELECT is(pg_temp.dispatch(clock_timestamp()), 'nothing', 'another rule fires nothing by itself');
SELECT throws_ok($$SELECT lockstep.job_set('c', '{"enabled": false}', 1)$$, 'LS002', NULL,
                 'a stale version is refused');
SELECT lockstep.job_set('c', '{"enabled": false}');
SELECT is(pg_temp.dispatch('2035-01-01Z'), 'nothing', 'a job that is disabled does not fire');
SELECT lockstep.job_set('c', '{"enabled": true}');
SELECT is((SELECT next_at > now() FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'c'),
          true, 'and does not catch up when it is enabled again');
SELECT pg_temp.gone('c');

-- Templates.
SELECT lockstep.job_define(pg_temp.spec('t', '{"defaults": {"region": "eu", "n": 7}, "tasks": [{"order": 1,
    "name": "${job} ${region}", "sql": "SELECT $1, $2, $3", "params": ["${n}", "${region}-${n}", "$${n}"]}]}'));
SELECT lockstep.job_run('t', '{"region": "us"}') AS run \gset
SELECT is((SELECT messages[1]::jsonb - '{run,seq,order,sql,run_name,run_on_failure,previous_order}'::text[]
           FROM lockstep.enqueued WHERE run_id = :'run'),
    '{"name": "t us", "params": [7, "us-7", "${n}"]}'::jsonb,
    'words are replaced, a word alone keeps its type, $${ is a text');
SELECT throws_like($$SELECT lockstep.job_run('t', '{"rgion": "us"}')$$, '%no such parameter%',
                   'a parameter that the job has not is refused');
SELECT pg_temp.gone('t');

-- What is refused, each with the field.
SELECT throws_like(format('SELECT lockstep.job_define(%L)', pg_temp.spec('r', more)), message, message)
FROM (VALUES ('{"bogus": 1}'::jsonb, 'bogus: a job has no such field'), ('{"job": "a b"}', 'job: "a b" is no name%'),
             ('{"job": "😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀"}', 'job: %is no name%'),
             ('{"queue": "nowhere"}', 'there is no queue nowhere'), ('{"tasks": []}', 'tasks: it is no list%'),
             ('{"tasks": [{"order": 1}]}', 'task 1: there is nothing to do%'),
             ('{"tasks": [{"order": 1, "sql": "SELECT 1", "params": ["${nowhere}"]}]}',
              'tasks[1].params[1]: "${nowhere}" is no placeholder'),
             ('{"tasks": [{"order": 1, "sql": "SELECT ''${run}''"}]}', 'tasks[1].sql: ${run} stands in a statement%'),
             ('{"tasks": [{"order": 1, "sql": "SELECT ''${rnu}''"}]}', 'tasks[1].sql: ${rnu} stands in a statement%'),
             ('{"overlap": "maybe"}', 'overlap: "maybe" is not known'),
             ('{"tasks": [{"order": 1, "url": "http://localhost/${job}"}]}', 'tasks[1].url: nothing is replaced in this field, and it has ${job}'),
             ('{"tasks": [{"order": 1, "command": "load-${region}"}]}',
              'tasks[1].command: nothing is replaced%${region}'),
             ('{"tasks": [{"order": 1, "sql": "SELECT 1", "not_before": "${fired_at}"}]}', 'task%'),
             ('{"tasks": [{"order": 1, "steps": [{"sql": "SELECT 1"}, {"url": "http://localhost/", "method": '
              '"${run}"}]}]}', 'tasks[1].steps[2].method: nothing is replaced%${run}'),
             ('{"defaults": {"run": 1}}', 'defaults.run: it cannot be the name of a parameter'),
             ('{"max_runtime": "soon"}', 'max_runtime: "soon" is not a length of time'),
             ('{"schedules": [{"name": "s", "kind": "cron", "expr": "0 25 * * *"}]}', '%25%'),
             ('{"schedules": [{"name": "s", "kind": "cron", "expr": "0 0 30 2 *"}]}', '%never%'),
             ('{"schedules": [{"name": "s", "kind": "interval", "every": "0s"}]}',
              'job r, schedule s: every: 0s is not in the range'),
             ('{"schedules": [{"name": "s", "kind": "cron", "expr": "0 0 * * *", "zone": "CET"}]}', '%CET%'),
             ('{"schedules": [{"name": "s", "kind": "interval", "every": "1h", "jitter": "-1s"}]}', '%jitter%'),
             ('{"schedules": [{"name": "s", "kind": "interval", "every": "1h", "jitter": "3650d"}]}',
              '%jitter: 3650d is not in the range'),
             ('{"schedules": [{"name": "s", "kind": "calendar", "freq_type": 64}]}', '%freq_type: 64%'),
             ('{"schedules": [{"name": "s", "kind": "once", "at": "2001-01-01T00:00:00Z"}]}',
              'job r, schedule s: it never fires after now'),
             ('{"schedules": [{"name": "s", "kind": "after", "job": "nowhere"}]}',
              'job r, schedule s: there is no job nowhere'),
             ('{"schedules": [{"name": "s", "kind": "after", "job": "r"}]}', '%would run after itself%'),
             ('{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}, {"name": "s", "kind": '
              '"interval", "every": "2h"}]}',
              'schedules: two of them have one name'),
             ('{"schedules": [{"name": "s", "kind": "interval", "every": "1h", "misfire": "no"}]}',
              'job r, schedule s: misfire: "no" is not known'),
             ('{"schedules": [7]}', 'job r: schedules[1]: it is no JSON object'),
             ('{"schedules": [{"name": "s", "kind": "interval", "every": "1h", "until": 1}]}',
              'job r, schedule s: until: a schedule has no such field'))
    AS bad (more, message);
SELECT is((SELECT count(*) FROM lockstep.job), 0::bigint, 'and nothing of it is stored');

-- Files.
SELECT is((SELECT string_agg(a.job || ' ' || a.action, ', ')
           FROM lockstep.job_apply(jsonb_build_array(pg_temp.spec('x',
               '{"schedules": [{"name": "s", "kind": "after", "job": "y"}]}'),
                                                     pg_temp.spec('y')),
                                   'f', true)
               AS a),
    'x create, y create', 'a dry run tells');
SELECT is((SELECT count(*) FROM lockstep.job), 0::bigint, 'and changes nothing');
SELECT is((SELECT string_agg(a.job || ' ' || a.action, ', ')
           FROM lockstep.job_apply(jsonb_build_array(pg_temp.spec('x',
               '{"schedules": [{"name": "s", "kind": "after", "job": "y"}]}'),
                                                     pg_temp.spec('y')),
                                   'f')
               AS a),
    'x create, y create', 'jobs may follow others that stand behind them');
SELECT lockstep.job_set('y', '{"enabled": false}');
SELECT is((SELECT string_agg(a.job || ' ' || a.action, ', ')
           FROM lockstep.job_apply(jsonb_build_array(pg_temp.spec('y', '{"overlap": "allow"}')), 'f') AS a),
          'y kept', 'what was changed by hand is kept');
SELECT is((SELECT string_agg(a.job || ' ' || a.action, ', ')
           FROM lockstep.job_apply(jsonb_build_array(pg_temp.spec('y', '{"overlap": "allow"}')), 'g', force => false)
               AS a),
          'y kept', 'and what another file declares');
SELECT is((SELECT string_agg(a.job || ' ' || a.action, ', ')
           FROM lockstep.job_apply(jsonb_build_array(pg_temp.spec('y', '{"overlap": "allow"}')), 'f', prune => true,
                                   force => true)
               AS a),
    'y change, x delete', 'force overwrites it, and prune deletes what the file does not declare any more');
SELECT lockstep.job_set('y', '{"enabled": false}');
SELECT is((SELECT string_agg(a.job || ' ' || a.action, ', ') FROM lockstep.job_apply('[]', 'f', prune => true) AS a),
          'y kept', 'prune keeps what was changed by hand');
SELECT count(*) FROM lockstep.job_apply(jsonb_build_array(pg_temp.spec('y'),
    pg_temp.spec('w', '{"schedules": [{"name": "s", "kind": "after", "job": "y"}]}')),
    'f', force => true);
SELECT lockstep.job_define(pg_temp.spec('v'));
SELECT is((SELECT string_agg(a.job || ' ' || a.action, ', ' ORDER BY a.job)
           FROM lockstep.job_apply('[]', 'f', prune => true) AS a),
          'w delete, y delete', 'jobs that follow each other go together');
SELECT count(*) FROM lockstep.job_apply(jsonb_build_array(pg_temp.spec('y')), 'f');
SELECT pg_temp.gone('v');
-- What job_apply says about job y of the file, as it is or with more fields.
CREATE FUNCTION pg_temp.applied(file text, more jsonb DEFAULT '{}', dry_run boolean DEFAULT false) RETURNS text
LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', a.action, a.detail), ', ')
    FROM lockstep.job_apply(jsonb_build_array(pg_temp.spec('y', more)), file, dry_run) AS a
$$;
CREATE FUNCTION pg_temp.y() RETURNS text LANGUAGE sql AS $$
    SELECT format('%s version %s%s', s.file, s.version, CASE WHEN s.drifted THEN ' drifted' ELSE '' END)
    FROM lockstep.job_status s WHERE s.job = 'y'
$$;
SELECT is(pg_temp.applied('g', dry_run => true), 'change declared by this file from now on',
          'a file that declares a job of another file as it is takes it over');
SELECT is(pg_temp.y(), 'f version 1', 'a dry run only says so');
SELECT pg_temp.applied('g');
SELECT is(pg_temp.y(), 'g version 1', 'the job belongs to the file that declared it last, without a new version');
SELECT is((SELECT count(*) FROM lockstep.job_apply('[]', 'f', prune => true)), 0::bigint,
          'so the file that it has left does not delete it');
SELECT is((SELECT count(*) FROM lockstep.job_apply('[]', 'g', prune => true, elsewhere => '{y}')), 0::bigint,
          'and no file deletes what a file that is applied with it declares');
SELECT is(pg_temp.y(), 'g version 1', 'the job is left');
SELECT throws_like($$SELECT lockstep.job_apply('[]', '-', prune => true)$$, 'prune: all pipes have one name%',
                   'all pipes have one name');
SAVEPOINT kept;
SELECT is((SELECT a.action FROM lockstep.job_apply('[]', 'g', prune => true, elsewhere => ARRAY[NULL::text]) AS a),
          'delete', 'no name elsewhere spares nothing');
ROLLBACK TO kept;

-- A job that is enabled by its default equals one that says so.
SELECT lockstep.job_set('y', '{"enabled": false}'), lockstep.job_set('y', '{"enabled": true}');
SELECT is(pg_temp.y(), 'g version 3', 'a job that was disabled and is enabled again is as its file declares it');
SELECT is(pg_temp.applied('g', '{"enabled": true}'), 'unchanged', 'a file may say so in words');
SELECT is(pg_temp.applied('g', '{"enabled": true, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'),
          'change schedules', 'and change it then');
SELECT lockstep.schedule_set('y', 's', '{"enabled": false}'), lockstep.schedule_set('y', 's', '{"enabled": true}');
SELECT is(pg_temp.y(), 'g version 6', 'so is one of which a schedule was disabled and is enabled again');
SELECT lockstep.schedule_add('y', '{"name": "t", "kind": "interval", "every": "1h", "enabled": true}'),
       lockstep.schedule_remove('y', 't');
SELECT is(pg_temp.y(), 'g version 8', 'or that had a schedule more in between');
SELECT is(pg_temp.applied('g', '{"schedules": []}'), 'change schedules', 'a file says that there is none');
SELECT lockstep.schedule_add('y', '{"name": "t", "kind": "interval", "every": "1h"}'),
       lockstep.schedule_remove('y', 't');
SELECT is(pg_temp.y(), 'g version 11', 'and the last one that is removed leaves none');

-- A change by hand that the file adopts is one of the file.
SELECT lockstep.job_set('y', '{"overlap": "allow"}');
SELECT is(pg_temp.y(), 'g version 12 drifted', 'a job is changed by hand');
SELECT is(pg_temp.applied('g', '{"overlap": "allow"}'), 'unchanged', 'its file says the same now');
SELECT is(pg_temp.y(), 'g version 12', 'so it is as its file declares it');
SELECT is(pg_temp.applied('g'), 'change overlap', 'and the file may change it back');
SELECT lockstep.job_set('y', '{"overlap": "allow"}');
SELECT pg_temp.applied('g', '{"overlap": "allow"}', true);
SELECT is(pg_temp.y(), 'g version 14 drifted', 'a dry run adopts nothing');
SELECT throws_like($$SELECT * FROM lockstep.job_apply('[{"job": "z", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}, {"job": "bad"}]', 'f')$$,
    'bad: queue: it is missing', 'one that is wrong refuses all');
SELECT is((SELECT string_agg(name, ' ') FROM lockstep.job), 'y', 'so nothing of them is there');
SELECT pg_temp.gone('y');

-- What comes late by its jitter is in time.
SELECT pg_temp.hourly('jittered', '2030-01-01 06:00Z', schedule => '{"misfire": "skip", "jitter": "50m"}');
UPDATE lockstep.schedule s SET wake_at = s.next_at + lockstep.job_jitter('jittered', s, s.next_at);
SELECT ok((SELECT wake_at - next_at > interval '1 minute' FROM lockstep.schedule), 'its share of the jitter is long');
SELECT is((SELECT pg_temp.dispatch(wake_at) FROM lockstep.schedule), 'jittered fire 06:00', 'and it fires');
-- A run of which something may still be on the topic is no zombie.
UPDATE lockstep.run SET started_at = now() - interval '1 h', status = 'Running' WHERE ended_at IS NULL;
UPDATE lockstep.queue SET paused = true;
SELECT is(pg_temp.overdue(), 0::bigint, 'a run whose queue is paused is no zombie');
UPDATE lockstep.queue SET paused = false, next_offset = 5;
INSERT INTO lockstep.relay (queue_id, kind, next_offset) SELECT queue_id, 'enqueue', 10 FROM lockstep.queue;
SELECT is(pg_temp.overdue(), 0::bigint, 'nor is one whose messages were not read to the end');
UPDATE lockstep.queue SET next_offset = 10;
SELECT is(pg_temp.overdue(), 1::bigint, 'one that has begun and has nothing left is');
SELECT is((SELECT event FROM lockstep.job_log ORDER BY job_event_id DESC LIMIT 1) IN ('zombie', 'error'), true,
          'and the log says so');
SELECT pg_temp.gone('jittered');
-- An error of one time leaves the others of a backlog.
SELECT pg_temp.hourly('backlog', date_trunc('hour', now()) - interval '2 h', '{"overlap": "allow"}',
                      '{"misfire": "all", "catchup_window": "5h"}');
SELECT pg_temp.breaks('backlog');
SELECT pg_temp.dispatch(clock_timestamp());
SELECT is((SELECT count(*) FROM lockstep.occurrence WHERE outcome = 'error'), 3::bigint,
          'each time of a backlog is an error of its own');
SELECT pg_temp.gone('backlog');
-- A run that is retried ends again, and the jobs that follow it run again.
SELECT pg_temp.hourly('parent', '2030-01-01 06:00Z');
SELECT lockstep.job_define(pg_temp.spec('child',
    '{"schedules": [{"name": "s", "kind": "after", "job": "parent", "on": "always"}]}'));
SELECT pg_temp.dispatch('2030-01-01 06:00Z'), pg_temp.ends('parent', 'Failed'), pg_temp.turn('2030-01-01 06:01Z'),
       pg_temp.dispatch('2030-01-01 06:01Z'), pg_temp.ends('child');
UPDATE lockstep.run r SET ended_at = NULL, status = 'Running' FROM lockstep.job j
WHERE j.job_id = r.job_id AND j.name = 'parent';
SELECT pg_temp.ends('parent'), pg_temp.turn('2030-01-01 06:02Z');
SELECT matches(pg_temp.dispatch('2030-01-01 06:02Z'), '^child fire [0-9:]+$',
               'a parent that was retried and ends again fires its child again');
SELECT pg_temp.gone('child');
SELECT pg_temp.gone('parent');
-- A run that was read from the topic belongs to the job whose time it is.
SELECT pg_temp.hourly('found', '2030-01-01 06:00Z');
SELECT pg_temp.dispatch('2030-01-01 06:00Z');
UPDATE lockstep.run SET job_id = NULL, started_by = NULL WHERE ended_at IS NULL;
SELECT pg_temp.set_back('found', '2030-01-01 06:00Z'), pg_temp.dispatch('2030-01-01 06:00Z');
SELECT is((SELECT r.started_by FROM lockstep.run r JOIN lockstep.job j USING (job_id) WHERE j.name = 'found'),
          'schedule s', 'a run that was known already becomes the job''s');
SELECT pg_temp.gone('found');
SELECT pg_temp.hourly('found', '2030-01-01 06:00Z');
SELECT lockstep.job_define(pg_temp.spec('child', '{"schedules": [{"name": "s", "kind": "after", "job": "found"}]}'));
SELECT pg_temp.dispatch('2030-01-01 06:00Z');
UPDATE lockstep.run SET job_id = NULL, started_by = NULL WHERE ended_at IS NULL;
UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
SELECT pg_temp.set_back('found', '2030-01-01 06:00Z');
SELECT d.verdict, pg_temp.turn('2030-01-01 06:01Z') FROM lockstep.dispatch('test', '2030-01-01 06:00Z') AS d;
SELECT is((SELECT format('%s %s %s', outcome, status, ended_at IS NOT NULL)
           FROM lockstep.job_occurrence o JOIN lockstep.job j USING (job_id) WHERE j.name = 'found'),
    'fired Completed t', 'one that has ended already ends its time');
SELECT is(pg_temp.dispatch('2030-01-01 06:01Z'), 'child fire 06:00', 'and fires what follows it');
SELECT pg_temp.gone('child');
SELECT ok(NOT has_column_privilege('lockstep_producer', 'lockstep.schedule', 'schedule_uid', 'SELECT'),
          'a producer cannot know the ids of runs to come');
SELECT pg_temp.gone('found');
-- Nor does its time fail when an executor reads it at the moment at which it fires again: it is decided once more, and
-- finds the run.
SELECT pg_temp.hourly('found', '2030-01-01 06:00Z');
SELECT pg_temp.dispatch('2030-01-01 06:00Z'), pg_temp.set_back('found', '2030-01-01 06:00Z');
SELECT run_id AS met FROM lockstep.run WHERE ended_at IS NULL \gset
DELETE FROM lockstep.run WHERE ended_at IS NULL;
-- Behind the look for the run, before the run is made.
CREATE FUNCTION pg_temp.claims() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO lockstep.run (run_id, queue_id, on_failure, status)
    SELECT NEW.run_id, NEW.queue_id, 'stop', 'Running' WHERE pg_trigger_depth() = 1;
    RETURN NEW;
END
$$;
CREATE TRIGGER claims BEFORE INSERT ON lockstep.run FOR EACH ROW EXECUTE FUNCTION pg_temp.claims();
SELECT is(pg_temp.dispatch('2030-01-01 06:00Z'), 'found wait 06:00',
          'a run that comes from the topic at the moment of its firing is no error');
DROP TRIGGER claims ON lockstep.run;
-- The trigger's was undone with the firing.
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status)
SELECT :'met', queue_id, 'stop', 'Running' FROM lockstep.queue WHERE name = 'q';
SELECT is(pg_temp.dispatch('2030-01-01 06:00:03Z'), 'found fire 06:00', 'and the next look finds it');
SELECT is((SELECT format('%s %s', count(*), min(job_id) IS NOT NULL) FROM lockstep.run WHERE run_id = :'met'), '1 t',
          'as the run of that time');
SELECT pg_temp.gone('found');
-- A change loses no time that was decided or due.
SELECT pg_temp.hourly('edited', '2030-01-01 06:00Z', '{"overlap": "queue_one"}');
SELECT pg_temp.dispatch('2030-01-01 06:00Z'), pg_temp.dispatch('2030-01-01 07:00Z'),
       lockstep.job_set('edited', '{"enabled": false}');
SELECT is((SELECT outcome || ': ' || reason FROM lockstep.occurrence WHERE scheduled_for = '2030-01-01 07:00Z'),
          'skipped: the schedule was changed before it fired', 'a time that waited is skipped, and says why');
SELECT pg_temp.gone('edited');
SELECT throws_ok($$SELECT lockstep.job_define(pg_temp.spec('nobody'), 3)$$, 'LS003', NULL,
                 'a version of a job that is gone makes none');
-- A one-shot that has passed does not keep a job disabled.
SELECT lockstep.job_define(pg_temp.spec('shot',
    jsonb_build_object('schedules', jsonb_build_array(jsonb_build_object('name', 's', 'kind', 'once',
        'at', to_char(now() AT TIME ZONE 'UTC' + interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))))));
UPDATE lockstep.schedule SET rule = lockstep.rule_of('{"kind": "once", "at": "2020-01-01T00:00:00Z"}'),
                             next_at = NULL, wake_at = NULL, is_active = false;
UPDATE lockstep.job SET enabled = false, spec = spec || '{"enabled": false}';
UPDATE lockstep.schedule SET spec = jsonb_set(spec, '{at}', '"2020-01-01T00:00:00Z"');
UPDATE lockstep.job SET spec = jsonb_set(spec, '{schedules,0,at}', '"2020-01-01T00:00:00Z"');
SELECT lives_ok($$SELECT lockstep.job_set('shot', '{"enabled": true}')$$,
                'a job whose one time has passed can be enabled');
SELECT is((SELECT h.state FROM lockstep.job_health h WHERE h.job = 'shot'), 'never',
          'and its health says that nothing is to come');
SELECT pg_temp.gone('shot');

-- How jobs do: from rows alone.
CREATE FUNCTION pg_temp.health(name text) RETURNS text LANGUAGE sql AS $$
    SELECT h.state || CASE WHEN h.is_problem THEN '!' ELSE '' END FROM lockstep.job_health h WHERE h.job = health.name
$$;
SELECT pg_temp.hourly('h', now() + interval '1 h');
SELECT is(pg_temp.health('h'), 'ok', 'a job whose next time is to come is well');
SELECT pg_temp.hourly('h', now() - interval '50 s');
SELECT is(pg_temp.health('h'), 'ok', 'and within the grace, too');
SELECT pg_temp.hourly('h', now() - interval '7 min');
SELECT is(pg_temp.health('h'), 'missed!', 'no dispatcher has decided its time: it is missed, whoever lives');
SELECT pg_temp.hourly('h', now() + interval '1 h'), lockstep.job_run('h');
SELECT is(pg_temp.health('h'), 'blocked!', 'it has fired, and its queue has no executor');
INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
VALUES (gen_random_uuid(), 'h', 1, 'v', 1, '{q}');
SELECT is(pg_temp.health('h'), 'running', 'with one it runs');
INSERT INTO lockstep.job_occurrence (job_id, scheduled_for, decided_at, outcome, source, dispatcher, status, ended_at)
SELECT j.job_id, now() - n * interval '1 day', now() - n * interval '1 day', 'fired', 's', 'd', 'Completed',
       now() - n * interval '1 day' + interval '10 s'
FROM lockstep.job j, generate_series(1, 5) AS n WHERE j.name = 'h';
UPDATE lockstep.run SET created_at = now() - interval '2 min'
WHERE job_id = (SELECT job_id FROM lockstep.job WHERE name = 'h');
SELECT is(pg_temp.health('h'), 'stuck!', 'longer than twice what good runs take, and a minute: it is stuck');
SELECT pg_temp.ends('h', 'Failed');
SELECT is(pg_temp.health('h'), 'failed!', 'its last run has failed');
UPDATE lockstep.queue SET paused = true;
SELECT is(pg_temp.health('h'), 'paused', 'a queue that a person has paused is no problem');
UPDATE lockstep.queue SET paused = false;
SELECT lockstep.job_set('h', '{"enabled": false}');
SELECT is(pg_temp.health('h'), 'disabled', 'nor is a job that a person has disabled');
SELECT pg_temp.gone('h');
SELECT lockstep.job_define(pg_temp.spec('h'));
SELECT is(pg_temp.health('h'), 'manual', 'of a job without a schedule nothing is expected');
SET LOCAL ROLE lockstep_monitor;
SELECT (SELECT count(*) FROM lockstep.job_health) + (SELECT count(*) FROM lockstep.job_status)
       + (SELECT count(*) FROM lockstep.occurrence WHERE false)
    + (SELECT count(*) FROM lockstep.job_log WHERE false) AS seen \gset
RESET ROLE;
SELECT is(:seen, 2, 'lockstep_monitor may look');
SELECT pg_temp.gone('h');
DELETE FROM lockstep.executor;

-- Watches: done elsewhere, expected at their times.
-- A day's time that is two hours past, at any time of the clock.
CREATE FUNCTION pg_temp.daily() RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('kind', 'daily', 'zone', 'UTC',
        'times', jsonb_build_array(to_char(now() AT TIME ZONE 'UTC' - interval '2 h', 'HH24:MI')))
$$;
SELECT lockstep.job_define(jsonb_build_object('job', 'backup', 'watch', true,
    'schedules', jsonb_build_array('{"name": "nightly"}' || pg_temp.daily())));
SELECT is(pg_temp.health('backup'), 'ok', 'a watch whose time is to come is well');
UPDATE lockstep.schedule SET next_at = next_at - interval '3 days';
SELECT is(pg_temp.dispatch('2035-01-01Z'), 'nothing', 'the dispatcher does not fire it');
SELECT is(pg_temp.health('backup'), 'missed!', 'it has not reported');
SELECT lockstep.ping('backup');
SELECT is(pg_temp.health('backup'), 'late!', 'it has, but late');
SELECT is((SELECT format('%s %s %s', outcome, status, missed_count) FROM lockstep.occurrence WHERE job = 'backup'),
          'fired Completed 2', 'for its latest time, and the two before were missed');
SELECT is((SELECT next_at > now() FROM lockstep.schedule), true, 'and is expected again');
UPDATE lockstep.schedule SET next_at = now() - interval '1 s';
SELECT lockstep.ping('backup', 'fail', 'disk full');
SELECT is((SELECT state || ': ' || detail FROM lockstep.job_health WHERE job = 'backup'), 'failed: disk full',
          'a failure is reported with what it says');
SELECT throws_ok($$SELECT lockstep.job_run('backup')$$, 'LS002', NULL, 'it cannot be run here');
SELECT throws_like($$SELECT lockstep.ping('backup', 'well')$$, 'status: "well" is not known',
                   'a status that is not known is refused');
SELECT pg_temp.gone('backup');
SELECT throws_like($$SELECT lockstep.job_define('{"job": "backup", "watch": true, "queue": "q", "schedules": []}')$$,
                   'watch: what is done elsewhere has neither queue nor tasks', 'a watch has no queue');
SELECT throws_like($$SELECT lockstep.job_define('{"job": "backup", "watch": true}')$$,
                   'schedules: a watch is expected at its times%', 'and it has times');
SELECT lockstep.job_define(pg_temp.spec('h'));
SELECT throws_ok($$SELECT lockstep.ping('h')$$, 'LS002', NULL, 'a job that runs here does not report');
SELECT pg_temp.gone('h');

-- A job that becomes a watch does not fire any more, and one that was a watch does.
SELECT pg_temp.hourly('turns', '2030-01-01 06:00Z');
SELECT lockstep.job_define('{"job": "turns", "watch": true,
                             "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}');
SELECT is(pg_temp.dispatch('2035-01-01Z'), 'nothing', 'a job that becomes a watch fires no more');
SELECT lockstep.job_define(pg_temp.spec('turns', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'));
SELECT matches(pg_temp.dispatch(clock_timestamp() + interval '61 min'), '^turns fire ',
               'a watch that becomes a job fires');
SELECT pg_temp.gone('turns');

-- Nothing follows a watch: it has no runs that end.
SELECT lockstep.job_define('{"job": "seen", "watch": true,
                             "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}');
SELECT throws_like($$SELECT lockstep.job_define(pg_temp.spec('n', '{"schedules": [{"name": "a", "kind": "interval", "every": "1h"}, {"name": "s", "kind": "after", "job": "seen"}]}'))$$,
    'job n, schedule s: job seen is a watch, which has no runs', 'a job does not follow a watch');
SELECT throws_like(format('SELECT lockstep.job_apply(%L, %L)',
    '[{"job": "n", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
       "schedules": [{"name": "s", "kind": "after", "job": "w"}]},
    {"job": "w", "watch": true, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}]', 'f'),
                   'job n, schedule s: job w is a watch, which has no runs', 'nor one that its file makes');
SELECT is((SELECT string_agg(a.job || ' ' || a.action, ', ') FROM lockstep.job_apply(jsonb_build_array(
    pg_temp.spec('new-c', '{"schedules": [{"name": "s", "kind": "after", "job": "new-b"}]}'),
    pg_temp.spec('new-b', '{"schedules": [{"name": "s", "kind": "after", "job": "new-a"}]}'), pg_temp.spec('new-a')),
                                                                                               'f') AS a),
          'new-c create, new-b create, new-a create', 'new jobs of a file may follow each other');
SELECT is((SELECT string_agg(concat_ws(' ', l.job, l.version, l.file, l.enabled), ', ' ORDER BY l.job)
           FROM lockstep.job_status l WHERE l.job LIKE 'new-%'),
          'new-a 1 f t, new-b 1 f t, new-c 1 f t', 'each of them is of version 1');
SELECT is((SELECT string_agg(concat_ws(' ', l.job, l.event, l.message), ', ' ORDER BY l.job)
           FROM lockstep.job_log l WHERE l.job LIKE 'new-%'),
          'new-a changed made by f, new-b changed made by f, new-c changed made by f', 'and was made once');
SELECT pg_temp.gone('new-c', 'new-b', 'new-a');
SELECT lockstep.job_define(pg_temp.spec('p')),
       lockstep.job_define(pg_temp.spec('n', '{"schedules": [{"name": "s", "kind": "after", "job": "p"}]}'));
SELECT throws_like($$SELECT lockstep.job_define('{"job": "p", "watch": true, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}')$$,
    'watch: job n runs after p, and a watch has no runs', 'what others follow does not become a watch');
SELECT is((SELECT string_agg(a.job || ' ' || a.action, ', ') FROM lockstep.job_apply(
    '[{"job": "p", "watch": true, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]},
    {"job": "n", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}]}]', 'f', force => true) AS a),
          'p change, n change', 'unless its followers are changed by the same file');
SELECT pg_temp.gone('n', 'p', 'seen');

-- What fails before there is a run is a problem, too.
SELECT lockstep.job_define(pg_temp.spec('h',
    jsonb_build_object('schedules', jsonb_build_array('{"name": "s", "catchup_window": "30m"}' || pg_temp.daily()))));
UPDATE lockstep.schedule SET next_at = now() - interval '2 h', wake_at = now();
SELECT pg_temp.dispatch(clock_timestamp());
SELECT matches((SELECT concat_ws(' ', state, is_problem,
    since = (SELECT o.scheduled_for FROM lockstep.occurrence o WHERE o.job = 'h'), detail)
                FROM lockstep.job_health WHERE job = 'h'),
    '^missed t t schedule s: 20.*Z was missed: no dispatcher was at work',
    'a time that was decided as missed is missed');
SELECT pg_temp.gone('h');
SELECT pg_temp.hourly('h', now() - interval '1 s');
SELECT pg_temp.breaks('h');
SELECT pg_temp.dispatch(clock_timestamp());
SELECT is((SELECT concat_ws(' ', state, is_problem, since <= clock_timestamp(), detail, last_run)
           FROM lockstep.job_health WHERE job = 'h'),
    'failed t t schedule s: 22023: task 1: it has no "order"',
    'a job that could not be fired has failed, and says why');
UPDATE lockstep.job SET spec = pg_temp.spec('h', jsonb_build_object('schedules', spec -> 'schedules')) WHERE name = 'h';
SELECT lockstep.job_run('h'), pg_temp.ends('h');
SELECT is(pg_temp.health('h'), 'ok', 'until a later time completes');
INSERT INTO lockstep.job_occurrence (job_id, scheduled_for, outcome, source, reason, dispatcher)
SELECT job_id, clock_timestamp(), 'error', 's', 'why', 'd' FROM lockstep.job WHERE name = 'h';
SELECT is((SELECT concat_ws(' ', state, last_run IS NOT NULL, last_status) FROM lockstep.job_health WHERE job = 'h'),
          'failed t Completed', 'the last run is the one before');
SELECT pg_temp.gone('h');

-- The test button agrees with the dispatcher.
SELECT setseed(0.4);
CREATE FUNCTION pg_temp.button(rounds int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz;
    told record;
    done record;
    wrong bigint := 0;
BEGIN
    FOR i IN 1..rounds LOOP
        moment := '2031-01-01Z'::timestamptz + random() * interval '10 days';
        PERFORM pg_temp.hourly('b', date_trunc('hour', moment + (random() * 8 - 6) * interval '1 hour'),
            jsonb_build_object('overlap', ('{skip,queue_one,allow,cancel}'::text[])[1 + floor(random() * 4)]),
            jsonb_build_object('misfire', ('{once,all,skip}'::text[])[1 + floor(random() * 3)],
                               'catchup_window', ('{1m,1h,5h}'::text[])[1 + floor(random() * 3)],
                               'jitter', ('{0s,10m}'::text[])[1 + floor(random() * 2)], 'enabled', random() < 0.9));
        IF random() < 0.5 THEN
            INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, job_id)
            SELECT gen_random_uuid(), q.queue_id, 'stop', 'Running', j.job_id FROM lockstep.queue q, lockstep.job j;
        END IF;
        IF random() < 0.2 THEN
            UPDATE lockstep.schedule SET queued_for = next_at - interval '1 hour';
        END IF;
        UPDATE lockstep.schedule s
        SET wake_at = CASE WHEN random() < 0.8 AND s.queued_for IS NULL THEN s.next_at ELSE moment END;
        SELECT * INTO told FROM lockstep.job_test('b', moment);
        SELECT * INTO done FROM lockstep.dispatch('test', moment);
        IF COALESCE(done.verdict, 'wait') <> told.verdict
            OR (done.verdict IS NOT NULL
                AND (done.scheduled_for, done.reason) IS DISTINCT FROM (told.scheduled_for, told.reason)) THEN
            wrong := wrong + 1;
            RAISE EXCEPTION 'told % done %', told, done;
        END IF;
        PERFORM pg_temp.gone('b');
        DELETE FROM lockstep.run;
    END LOOP;
    RETURN wrong;
END
$$;
SELECT is(pg_temp.button(400), 0::bigint, 'in 400 random states the test button tells what the next cycle does');

-- A server without room is nothing that a job has done: its time is not lost.
SELECT pg_temp.hourly('room', '2033-01-01 06:00Z');
CREATE FUNCTION pg_temp.full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
END
$$;
CREATE TRIGGER full_disk BEFORE INSERT ON lockstep.run FOR EACH ROW EXECUTE FUNCTION pg_temp.full();
SELECT is((SELECT format('%s: %s', d.verdict, d.reason) FROM lockstep.dispatch('test', '2033-01-01 06:00Z') AS d),
    'wait: could not extend file: No space left on device', 'while the disk is full a firing waits');
DROP TRIGGER full_disk ON lockstep.run;
SELECT is(pg_temp.dispatch('2033-01-01 06:00:01Z'), 'nothing', 'for a moment');
SELECT is(pg_temp.dispatch('2033-01-01 06:00:03Z'), 'room fire 06:00', 'and fires then');
SELECT is((SELECT s.failing_since FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'room'),
    NULL, 'and its failure is over');
SELECT pg_temp.gone('room');
SELECT pg_temp.hourly('room', '2033-01-01 06:00Z');
CREATE TRIGGER full_disk BEFORE INSERT ON lockstep.run FOR EACH ROW EXECUTE FUNCTION pg_temp.full();
SELECT pg_temp.dispatch('2033-01-01 06:00Z'), pg_temp.dispatch('2033-01-01 06:00:03Z'),
       pg_temp.dispatch('2033-01-01 06:01:30Z');
SELECT is((SELECT string_agg(message, ', ') FROM lockstep.job_log WHERE job = 'room' AND event = 'error'),
    '53100: could not extend file: No space left on device', 'the log has the reason from the second time on, once');
SELECT is(pg_temp.dispatch('2033-01-01 09:30Z'), 'room wait 09:00', 'a time that is too late is passed over');
DROP TRIGGER full_disk ON lockstep.run;
SELECT pg_temp.gone('room');

SELECT * FROM finish();
ROLLBACK;
