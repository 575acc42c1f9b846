-- Triggers of jobs, and the results of users' SQL (sql/functions/job/job_trigger.sql, job_decide_rows.sql,
-- job_turn.sql, fire.sql): firings and their reasons, the token, and refusals. The looks are run here, by the login of
-- this test; tests/e2e/job_rows.sh has the tasks' login, and two sessions.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');
CREATE TABLE public.staging (id int GENERATED ALWAYS AS IDENTITY, batch uuid, came timestamptz NOT NULL DEFAULT now(),
                             note text);
GRANT SELECT ON public.staging TO lockstep_task; -- other tests make logins, and one of them has to be able to look
CREATE VIEW public.bare AS SELECT id FROM public.staging;
GRANT SELECT ON public.bare TO lockstep_task;
CREATE FUNCTION pg_temp.spec(name text, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('job', name, 'queue', 'q',
                              'tasks', '[{"order": 100, "sql": "SELECT $1", "params": ["${rows}"]}]'::jsonb) ||
           more
$$;
CREATE FUNCTION pg_temp.trigger(name text, trigger jsonb, more jsonb DEFAULT '{}') RETURNS int LANGUAGE sql AS $$
    SELECT lockstep.job_define(pg_temp.spec(name,
        more ||
        jsonb_build_object('trigger', '{"on": "public.staging", "pending": "batch IS NULL"}'::jsonb || trigger)))
$$;
-- One cycle at p_now, with the looks and firings that it asks for: the decisions, in short.
CREATE FUNCTION pg_temp.cycle(p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    d lockstep.dispatched;
    f record;
    said text;
    run uuid;
BEGIN
    FOR i IN 1..20 LOOP
        d := lockstep.dispatch('test', p_now);
        EXIT WHEN d.verdict IS NULL;
        WHILE d.verdict IN ('look', 'ask') LOOP
            BEGIN
                IF d.verdict = 'look' THEN
                    SELECT * INTO f FROM lockstep.ask_look(d.look);
                    d := lockstep.dispatch_looked('test', d.token, f.rows, f.oldest, f.newest);
                ELSE
                    run := lockstep.ask_fire(d.token, d.mark, d.query, d.words);
                    said := concat_ws(', ', said,
                        d.job || CASE WHEN run IS NULL THEN ' skips' ELSE ' fires by itself: ' || d.reason END);
                    d.verdict := NULL;
                END IF;
            EXCEPTION
                WHEN OTHERS THEN
                    d := CASE WHEN d.verdict = 'look'
                                  THEN lockstep.dispatch_looked('test', d.token, NULL, NULL, NULL, SQLERRM)
                              ELSE lockstep.dispatch_failed('test', d.token, false, SQLERRM) END;
            END;
        END LOOP;
        CONTINUE WHEN d.verdict IS NULL;
        said := concat_ws(', ', said, concat_ws(' ', d.job, d.verdict, '(' || d.reason || ')'));
    END LOOP;
    RETURN COALESCE(said, 'nothing');
END
$$;
CREATE FUNCTION pg_temp.next(p_name text) RETURNS timestamptz LANGUAGE sql AS $$
    SELECT s.next_at FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = p_name
$$;
CREATE FUNCTION pg_temp.ends() RETURNS bigint LANGUAGE sql AS $$
    WITH ended AS (UPDATE lockstep.run r SET status = 'Completed', ended_at = clock_timestamp()
                   WHERE r.ended_at IS NULL RETURNING 1)
    SELECT count(*) FROM ended
$$;
CREATE FUNCTION pg_temp.rows(n int, age interval DEFAULT '0') RETURNS void LANGUAGE sql AS $$
    INSERT INTO public.staging (came) SELECT clock_timestamp() - age FROM generate_series(1, n)
$$;
CREATE FUNCTION pg_temp.gone() RETURNS void LANGUAGE sql AS $$
    SELECT pg_temp.ends();
    DELETE FROM lockstep.job;
    DELETE FROM public.staging;
$$;
-- The moment of the next look, and a little.
CREATE FUNCTION pg_temp.then(p_name text) RETURNS timestamptz LANGUAGE sql AS $$
    SELECT GREATEST(s.next_at, s.wake_at) + interval '1 ms'
    FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = p_name
$$;

-- By number.
SELECT pg_temp.trigger('t', '{"threshold": 3, "created_column": "came"}');
SELECT is(pg_temp.cycle(pg_temp.then('t')), 't wait (no row waits)', 'a look finds nothing');
SELECT pg_temp.rows(2);
SELECT matches(pg_temp.cycle(pg_temp.then('t')), '^t wait .2 rows wait; threshold 3', 'fewer than the threshold wait');
SELECT is((SELECT mode FROM lockstep.job_status WHERE job = 't'), 'triggered', 'its mode');
SELECT pg_temp.rows(1);
SELECT matches(pg_temp.cycle(pg_temp.then('t')), 't fire .trigger: 3 rows .threshold 3..',
               'the threshold fires, and says so');
SELECT is((SELECT r.started_by FROM lockstep.run r WHERE r.ended_at IS NULL), 'trigger: 3 rows (threshold 3)',
          'so does the run');
SELECT is((SELECT rows FROM lockstep.occurrence WHERE job = 't'), 3::bigint, 'the occurrence has the number of rows');
SELECT is((SELECT e.messages[1]::jsonb -> 'params' FROM lockstep.enqueued e ORDER BY enqueue_id DESC LIMIT 1), '[3]',
          'the task, too, as a number');
SELECT matches(pg_temp.cycle(pg_temp.then('t')), '^t wait .run .* of the job is', 'while its run is open it waits');
SELECT pg_temp.ends(), pg_temp.rows(10);
SELECT matches(pg_temp.cycle(pg_temp.then('t')), 't fire .trigger: 3[+] rows',
               'it counts to the threshold and one more');
SELECT pg_temp.gone();

-- A firing whose SQL takes long.
SELECT pg_temp.trigger('slow', '{"threshold": 1}'), pg_temp.rows(1), pg_temp.cycle(pg_temp.then('slow')),
       pg_temp.ends();
UPDATE lockstep.job_occurrence o SET scheduled_for = now() - interval '10 min', decided_at = now() - interval '5 min'
FROM lockstep.job j WHERE j.job_id = o.job_id AND j.name = 'slow';
SELECT is((SELECT count(*) || ' ' || min(h.state)
           FROM lockstep.job_health h JOIN lockstep.job_occurrence o ON o.run_id = h.last_run WHERE h.job = 'slow'),
          '1 ok', 'a trigger has no time that it is late for');
SELECT pg_temp.gone();

-- By age, and by new rows.
SELECT pg_temp.trigger('idle', '{"threshold": 100, "idle": "5m", "created_column": "came"}'), pg_temp.rows(1, '4 min');
SELECT matches(pg_temp.cycle(clock_timestamp()), 'idle wait .1 row waits; threshold 100; the oldest since 00:04:',
               'not idle for long enough');
SELECT pg_temp.rows(1, '6 min');
SELECT matches(pg_temp.cycle(pg_temp.then('idle')),
               'idle fire .trigger: 2 rows, the oldest of them for 00:06:.* .idle 00:05', 'idle fires');
SELECT pg_temp.gone();
SELECT pg_temp.trigger('new', '{"new_rows": true, "debounce": "30s", "max_wait": "10m", "created_column": "came"}'),
       pg_temp.rows(5, '1s');
SELECT matches(pg_temp.cycle(clock_timestamp()), 'new wait', 'rows that are too new');
SELECT cmp_ok(pg_temp.next('new') - clock_timestamp(), '<=', interval '10 s',
              'the next look comes when they are old enough, at the latest with check_every');
SELECT pg_temp.rows(1, '11 min');
SELECT matches(pg_temp.cycle(pg_temp.then('new')),
    'new fire .trigger: 6 rows, the oldest of them for 00:11:.* .max_wait', 'a steady trickle does not starve');
SELECT pg_temp.gone();
SELECT pg_temp.trigger('new', '{"new_rows": true, "debounce": "30s", "created_column": "came"}'),
       pg_temp.rows(2, '31s');
SELECT matches(pg_temp.cycle(clock_timestamp()),
               'new fire .trigger: 2 rows, none of them newer than 00:00:31 .debounce', 'no new row for the debounce');
SELECT pg_temp.gone();
SELECT pg_temp.trigger('m', '{"threshold": 1, "min_between": "1h"}'), pg_temp.rows(1);
SELECT matches(pg_temp.cycle(clock_timestamp()), 'm fire', 'it fires');
SELECT pg_temp.ends();
SELECT matches(pg_temp.cycle(pg_temp.then('m')), 'm wait .*it has fired less than 01:00:00 ago',
               'and not again before min_between');
SELECT cmp_ok(pg_temp.next('m') - clock_timestamp(), '>', interval '50 min', 'nor is it looked at');
SELECT pg_temp.gone();

-- Mark: a batch owns its rows.
SELECT pg_temp.trigger('mark',
    '{"threshold": 2, "mark": "UPDATE public.staging SET batch = ${run}, note = ${job} WHERE batch IS NULL"}'),
       pg_temp.rows(3);
SELECT matches(pg_temp.cycle(clock_timestamp()), 'mark fires by itself: trigger: 2[+] rows',
               'with mark it fires in the transaction of the users SQL');
SELECT is((SELECT count(*) FROM public.staging s JOIN lockstep.run r ON r.run_id = s.batch WHERE s.note = 'mark'),
          3::bigint, 'the rows have its run');
SELECT is((SELECT rows FROM lockstep.occurrence WHERE job = 'mark'), 3::bigint, 'and the occurrence their number');
SELECT is((SELECT count(*) FROM lockstep.job_ask), 0::bigint, 'the token is used up');
SELECT pg_temp.ends(), pg_temp.rows(2);
CREATE FUNCTION pg_temp.asked(p_now timestamptz) RETURNS lockstep.dispatched LANGUAGE plpgsql AS $$
DECLARE
    d lockstep.dispatched := lockstep.dispatch('test', p_now);
    f record;
BEGIN
    IF d.verdict = 'look' THEN
        SELECT * INTO f FROM lockstep.ask_look(d.look);
        d := lockstep.dispatch_looked('test', d.token, f.rows, f.oldest, f.newest);
    END IF;
    RETURN d;
END
$$;
SELECT (pg_temp.asked(pg_temp.then('mark'))).token AS token \gset
SELECT is((SELECT (lockstep.dispatch('test', pg_temp.then('mark'))).verdict), NULL,
          'while it is out nobody else decides');
SELECT lockstep.job_set('mark', '{"description": "edited"}');
SELECT throws_ok(format('SELECT lockstep.fire(%L, 2, NULL)', :'token'), 'LS002', NULL, 'an edit takes the token away');
SELECT (pg_temp.asked(pg_temp.then('mark'))).token AS token \gset
SELECT lockstep.dispatch_begin();
SELECT throws_ok(format('SELECT lockstep.fire(%L, 2, NULL)', :'token'), 'LS002', NULL, 'so does another dispatcher');
SELECT (pg_temp.asked(pg_temp.then('mark'))).token AS token \gset
SELECT throws_ok(format('SELECT lockstep.fire(%L, 0, NULL)', :'token'), '22023', 'no row waits: mark changed none',
                 'a mark that changed no row fires nothing');
SELECT throws_ok(format('SELECT lockstep.fire(%L, NULL, NULL)', :'token'), '22023', NULL,
                 'nor does one that was left out');
SELECT throws_ok(format('SELECT lockstep.fire(%L, 1, ARRAY[''{"order": 1, "command": "x"}''::jsonb])', :'token'),
                 '22023', NULL, 'nor one with tasks of somebody else');
SELECT is((SELECT (lockstep.dispatch_failed('test', :'token', true, 'another session was in the way')).verdict),
          'wait', 'what is no fault of the job waits');
SELECT is((SELECT (lockstep.dispatch('test', clock_timestamp())).verdict), NULL, 'for a moment');
SELECT cmp_ok((SELECT count(*) FROM lockstep.run WHERE ended_at IS NULL), '=', 0::bigint, 'no run was made');
SELECT pg_temp.gone();

-- What is no fault of the job, and does not end: another session that is always in the way, a session of the tasks'
-- login that is refused. It is logged once until it changes, and of a trigger, whose rows no time makes a missed one,
-- it is an error after five minutes.
CREATE FUNCTION pg_temp.again(p_why text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    d lockstep.dispatched;
BEGIN
    UPDATE lockstep.schedule SET asked_until = clock_timestamp() - interval '1 ms' WHERE asked_until IS NOT NULL;
    UPDATE lockstep.schedule
    SET next_at = clock_timestamp() - interval '1 ms', wake_at = clock_timestamp() - interval '1 ms'
    WHERE wake_at > clock_timestamp();
    d := pg_temp.asked(clock_timestamp());
    d := lockstep.dispatch_failed('test', d.token, true, p_why);
    RETURN concat_ws(' ', d.verdict, (SELECT count(*) FROM lockstep.job_log WHERE job = d.job AND event = 'error'));
END
$$;
SELECT pg_temp.trigger('held',
    '{"threshold": 1, "check_every": "1s", "mark": "UPDATE public.staging SET batch = ${run} WHERE batch IS NULL"}'),
       pg_temp.rows(1);
SELECT is(pg_temp.again('in the way'), 'wait 0', 'what another session does is tried again without a word');
SELECT is(pg_temp.again('in the way'), 'wait 1', 'the second time in a row is logged');
SELECT is(pg_temp.again('in the way'), 'wait 1', 'once');
SELECT is(pg_temp.again('login refused'), 'wait 2', 'until it changes');
SELECT is((SELECT message FROM lockstep.job_log WHERE job = 'held' AND event = 'error' ORDER BY at DESC LIMIT 1),
          'login refused', 'with its text');
UPDATE lockstep.schedule SET failing_since = clock_timestamp() - interval '4 min';
SELECT is(pg_temp.again('login refused'), 'wait 2', 'for five minutes');
UPDATE lockstep.schedule SET failing_since = clock_timestamp() - interval '6 min';
SELECT is(pg_temp.again('login refused'), 'error 2', 'then it is an error');
SELECT is((SELECT outcome || ' ' || reason FROM lockstep.occurrence WHERE job = 'held'), 'error login refused',
          'of a time');
SELECT is((SELECT state FROM lockstep.job_health WHERE job = 'held'), 'failed', 'and the job has failed');
SELECT is(pg_temp.again('login refused'), 'error 2', 'each time');
SELECT is((SELECT round(date_part('epoch', next_at - clock_timestamp())) FROM lockstep.schedule), 4::float8,
          'with pauses that grow');
UPDATE lockstep.schedule SET next_at = clock_timestamp(), wake_at = clock_timestamp();
SELECT matches(pg_temp.cycle(clock_timestamp()), 'held fires by itself', 'when it can, it fires');
SELECT is((SELECT failing_since IS NULL AND failing_why IS NULL FROM lockstep.schedule), true,
          'and nothing fails any more');
SELECT pg_temp.gone();
SELECT lockstep.job_define(pg_temp.spec('timed',
    '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}], "query": "SELECT 1"}')
                           - 'tasks');
SELECT is(pg_temp.again('in the way') || ', ' || pg_temp.again('in the way') || ', ' || pg_temp.again('in the way'),
          'wait 0, wait 1, wait 1', 'the times of a schedule wait in the same way');
UPDATE lockstep.schedule SET failing_since = clock_timestamp() - interval '6 min';
SELECT is(pg_temp.again('in the way'), 'wait 1', 'until catchup_window is over');
SELECT is((SELECT count(*) FROM lockstep.occurrence WHERE job = 'timed'), 0::bigint, 'and none of them is decided');
SELECT pg_temp.gone();

-- A look that fails, or takes too long.
SELECT pg_temp.trigger('bad', '{"threshold": 1, "pending": "1 / (id - id) = 0"}'), pg_temp.rows(1);
SELECT is(pg_temp.cycle(clock_timestamp()), 'bad error (division by zero)', 'a look that fails is an error');
SELECT is(pg_temp.cycle(pg_temp.then('bad')), 'bad error (division by zero)', 'each time');
SELECT is(pg_temp.cycle(pg_temp.then('bad')), 'bad error (division by zero)', 'each time');
SELECT is((SELECT count(*) FROM lockstep.job_log WHERE job = 'bad' AND event = 'error'), 1::bigint,
          'but the log has it once');
SELECT cmp_ok(pg_temp.next('bad') - clock_timestamp(), '>', interval '1 min', 'and its looks come later each time');
SELECT is((SELECT count(*) FROM lockstep.occurrence WHERE job = 'bad'), 0::bigint, 'a look is no occurrence');
SELECT pg_temp.gone();

-- Query: the tasks are its rows.
SELECT lockstep.job_define(pg_temp.spec('q',
    '{"defaults": {"n": 2, "word": "x"}, "schedules": [{"name": "s", "kind": "interval", "every": "1h"}],
    "query": "SELECT i * 100 AS \"order\", ''SELECT $1'' AS sql, format(''[\"%s\"]'', ${word}) AS params, NULL AS name FROM generate_series(1, ${n}::int) AS i ORDER BY i DESC;"}')
                           - 'tasks');
UPDATE lockstep.schedule SET next_at = '2030-01-01 06:00Z', wake_at = '2030-01-01 06:00Z';
SELECT is(pg_temp.cycle('2030-01-01 06:00Z'), 'q fires by itself: schedule s', 'a query brings the tasks');
SELECT is((SELECT string_agg((p::jsonb ->> 'order') || (p::jsonb ->> 'params'), ' ')
           FROM lockstep.enqueued e, unnest(e.messages) AS p
           WHERE p::jsonb ? 'sql' AND e.run_id = (SELECT run_id FROM lockstep.run WHERE ended_at IS NULL)),
          '100["x"] 200["x"]', 'with its parameters bound');
SELECT is((SELECT outcome || ' ' || scheduled_for FROM lockstep.occurrence WHERE job = 'q'),
          'fired ' || '2030-01-01 06:00Z'::timestamptz, 'its time is decided');
SELECT is(pg_temp.next('q'), '2030-01-01 07:00Z'::timestamptz, 'and the next one is to come');
SELECT pg_temp.ends(),
       lockstep.job_set('q', '{"query": "SELECT jsonb_build_object(''order'', 1, ''sql'', ''SELECT 1'')"}');
UPDATE lockstep.schedule SET next_at = '2030-01-01 07:00Z', wake_at = '2030-01-01 07:00Z';
SELECT is(pg_temp.cycle('2030-01-01 07:00Z'), 'q fires by itself: schedule s', 'a row that is one object is a task');
SELECT pg_temp.ends(), lockstep.job_set('q', '{"query": "SELECT 1 AS \"order\", ''x'' AS sql WHERE false"}');
UPDATE lockstep.schedule SET next_at = '2030-01-01 08:00Z', wake_at = '2030-01-01 08:00Z';
SELECT is(pg_temp.cycle('2030-01-01 08:00Z'), 'q skips', 'without a task its time is skipped');
SELECT is((SELECT reason FROM lockstep.occurrence WHERE job = 'q' AND outcome = 'skipped'),
          'its query returned no task', 'and says why');
SELECT lockstep.job_set('q', '{"query": "SELECT 1 AS nothing"}');
UPDATE lockstep.schedule SET next_at = '2030-01-01 09:00Z', wake_at = '2030-01-01 09:00Z';
SELECT matches(pg_temp.cycle('2030-01-01 09:00Z'), 'q error .task 1: there is no field "nothing"',
               'a row that is no task is an error');
SELECT is((SELECT outcome FROM lockstep.occurrence WHERE job = 'q' AND scheduled_for = '2030-01-01 09:00Z'), 'error',
          'of its time');
SELECT lockstep.job_set('q',
                        '{"query": "SELECT i AS \"order\", ''SELECT 1'' AS sql FROM generate_series(1, 100001) AS i"}');
UPDATE lockstep.schedule SET next_at = '2030-01-01 10:00Z', wake_at = '2030-01-01 10:00Z';
SELECT matches(pg_temp.cycle('2030-01-01 10:00Z'), 'q error .the query returns more than 100000 tasks',
               'too many are refused');
-- A run begins while the query runs, so the decision to fire is void: the time is decided again.
CREATE FUNCTION pg_temp.overtaken(p_overlap text, p_at timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    d lockstep.dispatched;
    said text;
BEGIN
    PERFORM lockstep.job_set('q', jsonb_build_object('overlap', p_overlap));
    UPDATE lockstep.schedule SET next_at = p_at, wake_at = p_at;
    d := lockstep.dispatch('test', p_at);
    INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, job_id)
    SELECT gen_random_uuid(), j.queue_id, 'stop', 'Running', j.job_id FROM lockstep.job j;
    BEGIN
        PERFORM lockstep.ask_fire(d.token, d.mark, d.query, d.words);
        said := 'fires';
    EXCEPTION
        WHEN OTHERS THEN
            said := (lockstep.dispatch_failed('test', d.token, false, SQLERRM)).verdict;
    END;
    said := said || '; ' || pg_temp.cycle(p_at);
    PERFORM pg_temp.ends();
    RETURN said || '; ' || pg_temp.cycle(p_at + interval '5 s');
END
$$;
SELECT lockstep.job_set('q', '{"query": "SELECT 7 AS \"order\", ''SELECT 1'' AS sql"}');
-- Its query takes long, and fails later.
UPDATE lockstep.schedule SET next_at = clock_timestamp() - interval '7 min', wake_at = clock_timestamp();
SELECT matches((SELECT state || ': ' || detail FROM lockstep.job_health), 'missed: schedule s: no dispatcher decided ',
               'no dispatcher has it');
SELECT d.token FROM lockstep.dispatch('test') AS d \gset
SELECT is((SELECT concat_ws(' ', state, is_problem, detail) FROM lockstep.job_health),
          'running t the SQL of its firing runs; before it the job had failed', 'its query takes long');
SELECT is((SELECT h.since FROM lockstep.job_health h), (SELECT a.asked_at FROM lockstep.job_ask a), 'since then');
UPDATE lockstep.schedule SET asked_until = clock_timestamp();
SELECT is((SELECT state FROM lockstep.job_health), 'missed', 'nothing is known of it any more');
SELECT lockstep.dispatch_failed('test', :'token', true, 'no CONNECT');
SELECT lockstep.dispatch_failed('test', d.token, true, 'no CONNECT')
FROM lockstep.dispatch('test', clock_timestamp() + interval '1 min') AS d;
SELECT matches((SELECT detail FROM lockstep.job_health), 'schedule s: .* was not decided: no CONNECT',
               'the reason for which it is tried again');
UPDATE lockstep.schedule SET failing_since = NULL, failing_why = NULL, asked_until = NULL;
SELECT matches(pg_temp.overtaken('queue_one', '2030-01-01 11:00Z'),
               'wait; q queue .run .* is Running since .*; q fires by itself: schedule s',
               'queue_one waits for the end of the run');
SELECT pg_temp.ends();
SELECT matches(pg_temp.overtaken('skip', '2030-01-01 12:00Z'), 'wait; q skip .run .* is Running since .*; nothing',
               'skip skips');
SELECT is(pg_temp.overtaken('allow', '2030-01-01 13:00Z'), 'fires; nothing; nothing', 'allow fires');
SELECT is((SELECT string_agg(o.outcome, ', ' ORDER BY o.scheduled_for) FROM lockstep.occurrence o
           WHERE o.scheduled_for >= '2030-01-01 11:00Z'), 'fired, skipped, fired', 'and no time is an error');
SELECT pg_temp.ends(), lockstep.job_set('q', '{"overlap": "skip"}');
-- The job that it follows ends again while its query runs, which fails: the second end is not lost.
SELECT lockstep.job_define(pg_temp.spec('before')), lockstep.job_define(pg_temp.spec('follows',
    '{"query": "SELECT 1 AS nothing",
      "schedules": [{"name": "s", "kind": "after", "job": "before", "on": "always"}]}')
    - 'tasks');
SELECT lockstep.job_run('before'), pg_temp.ends();
SELECT (pg_temp.asked(clock_timestamp() + interval '1 s')).token AS token \gset
SELECT lockstep.job_run('before'), pg_temp.ends();
SELECT is((SELECT (lockstep.dispatch_failed('test', :'token', false, 'it failed')).verdict), 'error',
          'the query of the first end fails');
SELECT isnt((SELECT s.next_at FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 'follows'),
            NULL, 'the second end is still to be decided');
DELETE FROM lockstep.job WHERE name = 'follows';
DELETE FROM lockstep.job WHERE name = 'before';
-- By hand it needs the tasks' login, too.
SELECT lockstep.job_set('q', '{"query": "SELECT 7 AS \"order\", ''SELECT 1'' AS sql, ${run}::text AS name"}');
SELECT lockstep.ask_fire(a.token, a.mark, a.query, a.words) AS run FROM lockstep.job_run_ask('q', '{"n": 5}') AS a \gset
SELECT is((SELECT run_id FROM lockstep.run WHERE ended_at IS NULL), :'run', 'by hand with a token');
SELECT is((SELECT started_by FROM lockstep.run WHERE ended_at IS NULL), 'manual by ' || session_user, 'and says who');
SELECT throws_ok($$SELECT lockstep.job_run_ask('q', NULL)$$, 'LS002', NULL, 'while its run is open it is refused');
SELECT pg_temp.ends(), lockstep.job_set('q', '{"query": "SELECT 1 AS \"order\", ''x'' AS sql WHERE false"}');
SELECT throws_ok(
    $$SELECT lockstep.ask_fire(a.token, a.mark, a.query, a.words) FROM lockstep.job_run_ask('q', NULL) AS a$$,
    'LS002', 'its query returned no task', 'by hand without a task');
SELECT pg_temp.gone();

-- The test button decides as the next cycle does.
SELECT setseed(0.3);
CREATE FUNCTION pg_temp.button(rounds int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    moment CONSTANT timestamptz := clock_timestamp() + interval '1 day';
    d lockstep.dispatched;
    look lockstep.rows_look;
    told record;
    wrong bigint := 0;
BEGIN
    FOR i IN 1..rounds LOOP
        PERFORM pg_temp.trigger('b', jsonb_strip_nulls(jsonb_build_object('created_column', 'came',
            'threshold', (ARRAY[NULL, 1, 3, 10])[1 + floor(random() * 4)],
            'idle', (ARRAY[NULL, '1m', '1h'])[1 + floor(random() * 3)], 'new_rows', true,
            'debounce', (ARRAY['0s', '1m', '1h'])[1 + floor(random() * 3)],
            'min_between', (ARRAY[NULL, '1m', '1h'])[1 + floor(random() * 3)])),
            jsonb_build_object('overlap', ('{skip,queue_one,allow}'::text[])[1 + floor(random() * 3)],
                               'enabled', random() < 0.9));
        IF random() < 0.3 THEN
            INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, job_id)
            SELECT gen_random_uuid(), q.queue_id, 'stop', 'Running', j.job_id FROM lockstep.queue q, lockstep.job j;
        END IF;
        UPDATE lockstep.schedule SET fired_at = moment - random() * interval '2 h', next_at = moment - interval '1 s',
                                     wake_at = moment - interval '1 s'
        WHERE is_active;
        look := ROW(moment, floor(random() * 5), moment - random() * interval '2 h',
                    moment - random() * interval '3 min', 0, NULL)::lockstep.rows_look;
        SELECT * INTO told FROM lockstep.job_test('b', moment, look);
        d := lockstep.dispatch('test', moment);
        IF d.verdict = 'look' THEN
            d := lockstep.dispatch_looked('test', d.token, look.rows, look.oldest_at, look.newest_at);
        END IF;
        IF COALESCE(d.verdict, 'wait') <> told.verdict
            OR (d.verdict IS NOT NULL
                AND (d.scheduled_for, d.reason) IS DISTINCT FROM (told.scheduled_for, told.reason)) THEN
            wrong := wrong + 1;
            RAISE EXCEPTION 'told % done %', told, d;
        END IF;
        PERFORM pg_temp.gone();
        DELETE FROM lockstep.run;
    END LOOP;
    RETURN wrong;
END
$$;
SELECT is(pg_temp.button(300), 0::bigint,
          'in 300 random states of a trigger the test button tells what the next cycle does');
SELECT pg_temp.trigger('advice', '{"threshold": 1, "created_column": "came"}');
SELECT is((SELECT advice FROM lockstep.job_test('advice')),
    'CREATE INDEX CONCURRENTLY ON public.staging (came) WHERE batch IS NULL', 'it advises the index of the looks');
CREATE INDEX ON public.staging (came) WHERE batch IS NULL;
SELECT is((SELECT advice FROM lockstep.job_test('advice')), NULL, 'unless there is one');
SELECT pg_temp.gone();
DROP INDEX public.staging_came_idx;
SELECT pg_temp.trigger('advice', '{"threshold": 1, "created_column": "came",
    "pending": "batch IS NULL AND came < now()"}');
SELECT is((SELECT advice FROM lockstep.job_test('advice')),
    'CREATE INDEX CONCURRENTLY ON public.staging (came) WHERE batch IS NULL AND came < now()'
    ' -- if PostgreSQL refuses this condition, leave out the part with a function or a subquery',
    'of a condition that no index may have, it says what to leave out');
SELECT pg_temp.gone();

-- Refusals when a job is saved: the field, and the remedy.
CREATE FUNCTION pg_temp.refused(trigger jsonb, more jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    PERFORM pg_temp.trigger('r', trigger, more);
    RETURN 'taken';
EXCEPTION
    WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
        RETURN CASE WHEN hint = '' THEN 'NO HINT ' ELSE '' END || SQLERRM;
END
$$;
SELECT is(pg_temp.refused('{"threshold": 1, "on": "public.nothing"}'),
          'trigger.on: there is no table or view ''public.nothing''', 'a table that is not there');
SELECT is(pg_temp.refused('{"threshold": 1, "on": "staging"}'), 'trigger.on: there is no table or view ''staging''',
          'a name without its schema');
SELECT is(pg_temp.refused('{"threshold": 1, "on": "a.b.c; DROP TABLE x"}'),
          'trigger.on: there is no table or view ''a.b.c; DROP TABLE x''', 'no name at all');
SELECT is(pg_temp.refused('{"idle": "1m", "on": "public.bare", "created_column": "came"}'),
    'trigger.created_column: public.bare has no column came of a type timestamp with or without time zone, or date',
    'a view without the column');
SELECT is(pg_temp.refused('{"idle": "1m"}'),
          'trigger.created_column: it is missing: idle and new_rows compare when rows came', 'no column of times');
SELECT is(pg_temp.refused('{}'), 'trigger: it has no condition', 'no condition');
SELECT is(pg_temp.refused('{"threshold": 0}'), 'trigger.threshold: it is no number of rows', 'a threshold of 0');
SELECT is(pg_temp.refused('{"threshold": 1.5}'), 'trigger.threshold: it is no number of rows', 'half a row');
SELECT is(pg_temp.refused('{"threshold": 1, "pending": "true; DELETE FROM x"}'),
          'trigger.pending: it has a semicolon', 'two statements');
SELECT is(pg_temp.refused('{"threshold": 1, "check_every": "0s"}'), 'trigger.check_every: 0s is not in the range',
          'no time between two looks');
SELECT is(pg_temp.refused('{"threshold": 1, "debounce": "1m"}'), 'trigger.debounce: it belongs to "new_rows"',
          'a debounce of nothing');
SELECT is(pg_temp.refused('{"threshold": 1, "wait": 1}'), 'trigger.wait: a trigger has no such field',
          'a field that is not known');
SELECT is(pg_temp.refused('{"threshold": 1, "mark": "UPDATE x SET y = ${batch}"}'),
          'trigger.mark: "${batch}" is no placeholder', 'a word that is not known');
SELECT is(pg_temp.refused('{"threshold": 1}', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}'),
          'trigger: a job fires when rows wait, or at times', 'both');
SELECT is(pg_temp.refused('{"threshold": 1}', '{"query": "SELECT 1"}'),
          'query: the tasks come from it, and the job has "tasks", too', 'tasks and a query');
SELECT is(pg_temp.refused('{"threshold": 1}', '{"watch": true}'),
          'watch: what is done elsewhere has neither queue nor tasks', 'a watch');
SELECT throws_like($$SELECT lockstep.job_define('{"job": "s", "queue": "q", "tasks": [{"order": 1, "sql": "SELECT 1"}],
                                          "schedules": [{"name": "s", "kind": "trigger", "trigger": {}}]}')$$,
    'job s, schedule s: trigger: a schedule has no trigger', 'a trigger among the schedules');

CREATE TABLE public.secret (id int);
CREATE ROLE job_rows_tasks LOGIN IN ROLE lockstep_task;
SELECT is(pg_temp.refused('{"threshold": 1, "on": "public.secret"}'),
          'trigger.on: no login that runs tasks may read public.secret', 'a table that nobody may read');
GRANT SELECT ON public.secret TO lockstep_task;
SELECT is(pg_temp.refused('{"threshold": 1, "on": "public.secret", "pending": "true"}'), 'taken',
          'until the right is given, as the hint says');
SELECT pg_temp.gone();

-- A trigger that cannot fire, or cannot look, is a problem.
SELECT pg_temp.trigger('t', '{"threshold": 1, "check_every": "1s"}'), pg_temp.rows(1);
UPDATE lockstep.job SET spec = jsonb_set(spec, '{tasks}', '[{"sql": "SELECT 1", "name": "${job}"}]') WHERE name = 't';
SELECT matches(pg_temp.cycle(clock_timestamp()), '^t error .*no "order"', 'a trigger that cannot fire is an error');
SELECT matches(pg_temp.cycle(pg_temp.next('t')), '^t error .*no "order"', 'each time');
SELECT is((SELECT string_agg(concat_ws(' ', outcome, reason), ', ') FROM lockstep.occurrence),
          'error 22023: task 1: it has no "order"', 'of which one is kept');
SELECT is((SELECT count(*) FROM lockstep.job_log WHERE job = 't' AND event = 'error'), 1::bigint, 'as in the log');
SELECT is((SELECT concat_ws(' ', state, is_problem, detail) FROM lockstep.job_health),
          'failed t trigger: 22023: task 1: it has no "order"', 'and the job has failed');
-- Its pauses grow, though each look finds rows; and it is so since the first time.
CREATE FUNCTION pg_temp.pause() RETURNS numeric LANGUAGE sql AS $$
    SELECT round(date_part('epoch', s.next_at - (s.look).at)::numeric)
    FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = 't'
$$;
CREATE TEMP TABLE first AS SELECT since FROM lockstep.job_health;
CREATE TEMP TABLE pause (seconds numeric);
DO $$
    BEGIN
        FOR i IN 1..10 LOOP
            INSERT INTO pause SELECT pg_temp.pause();
            PERFORM pg_temp.cycle(pg_temp.next('t'));
        END LOOP;
    END
$$;
SELECT is((SELECT string_agg(seconds::text, ' ') FROM pause), '4 8 16 32 64 128 256 300 300 300',
          'each pause is twice the one before');
SELECT ok((SELECT h.since = f.since AND h.since < clock_timestamp() FROM lockstep.job_health h, first f),
          'the job is so since the first failure');
UPDATE lockstep.job SET spec = jsonb_set(spec, '{tasks}', '[{"order": 1, "sql": "SELECT 1"}]') WHERE name = 't';
SELECT matches(pg_temp.cycle(pg_temp.next('t')), '^t fire', 'when it can, it fires');
SELECT is((SELECT concat_ws(' ', (look).failures, failing_since IS NULL) FROM lockstep.schedule), '0 t',
          'which ends the row of failures');
SELECT pg_temp.gone();
SELECT pg_temp.trigger('t', '{"threshold": 1, "check_every": "1h"}');
CREATE FUNCTION pg_temp.blind() RETURNS text LANGUAGE sql AS $$
    SELECT lockstep.job_look_failed(j, s, 'no such table') FROM lockstep.job j JOIN lockstep.schedule s USING (job_id);
    SELECT concat_ws(' ', state, is_problem, since IS NOT NULL, detail) FROM lockstep.job_health
$$;
SELECT is(pg_temp.blind() || ', ' || pg_temp.blind() || ', ' || pg_temp.blind(),
          'ok f f, ok f f, failed t t trigger: no such table', 'three looks in a row that failed are a failure');
SELECT is((SELECT count(*) FROM lockstep.occurrence), 0::bigint, 'of no time');
SELECT is(pg_temp.pause(), 3600::numeric, 'looks that fail come no more often than those that do not');
SELECT pg_temp.rows(1);
SELECT pg_temp.cycle(pg_temp.next('t'));
SELECT is((SELECT concat_ws(' ', (look).failures, failing_since IS NULL) FROM lockstep.schedule), '0 t',
          'one that succeeds ends the row of failures');
SELECT pg_temp.gone();

-- A change of the mode clears what belongs to the one that it leaves.
SELECT pg_temp.trigger('mode', '{"threshold": 1}'), lockstep.job_set('mode', '{"trigger": null}');
SELECT is((SELECT count(*) FROM lockstep.schedule), 0::bigint, 'without its trigger it has none');
SELECT is((SELECT mode FROM lockstep.job_status), 'manual', 'and runs by hand');
SELECT pg_temp.gone();

-- A table that is watched notifies, but not when a look is near anyway.
SELECT pg_temp.trigger('w', '{"threshold": 1, "check_every": "1h"}'), lockstep.watch_table('public.staging'),
       lockstep.watch_table('public.staging');
SELECT is((SELECT count(*) FROM pg_trigger WHERE tgname = 'lockstep_table_changed'), 1::bigint,
          'watch_table puts one trigger');
SELECT pg_temp.cycle(clock_timestamp());
SELECT lockstep.dispatch_rows(ARRAY['public.staging'::regclass]::oid[]);
SELECT cmp_ok(pg_temp.next('w') - clock_timestamp(), '<', interval '2 s', 'rows that have come bring the look forward');
-- Rows that come all the time while a run of the job is open mean no decision and no look, until it ends.
CREATE FUNCTION pg_temp.busy(rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    d lockstep.dispatched;
    decided int := 0;
BEGIN
    FOR i IN 1..rounds LOOP
        PERFORM lockstep.dispatch_rows(ARRAY['public.staging'::regclass]::oid[]);
        d := lockstep.dispatch('test', now());
        decided := decided + CASE WHEN d.verdict IS NULL THEN 0 ELSE 1 END;
    END LOOP;
    RETURN decided || ' decisions';
END
$$;
CREATE FUNCTION pg_temp.wakes() RETURNS interval LANGUAGE sql AS 'SELECT min(wake_at) - now() FROM lockstep.schedule';
-- One cycle at this moment, with a look.
CREATE FUNCTION pg_temp.looks() RETURNS text LANGUAGE sql AS $$
    UPDATE lockstep.schedule SET next_at = clock_timestamp(), wake_at = clock_timestamp(), look = NULL;
    SELECT pg_temp.cycle(clock_timestamp());
$$;
SELECT pg_temp.rows(3);
SELECT matches(pg_temp.looks(), 'w fire', 'it fires');
UPDATE lockstep.schedule SET look.at = now() - interval '1 min';
SELECT is(pg_temp.busy(20), '0 decisions', 'while the run is open rows that come decide nothing');
SELECT is(pg_temp.wakes(), interval '5 s', 'but once, in case it is ending now');
SELECT matches(pg_temp.cycle(pg_temp.then('w')), '^w wait .run .* of the job is', 'which it is not');
SELECT is(pg_temp.busy(20), '0 decisions', 'nor later');
SELECT cmp_ok(pg_temp.wakes(), '>', interval '50 min', 'and nothing is due');
SELECT pg_temp.ends();
SELECT matches(pg_temp.cycle(clock_timestamp()), '^w fire', 'the end of the run has the rows looked at');
-- min_between holds for the look, too.
SELECT pg_temp.ends(), pg_temp.trigger('w', '{"threshold": 1, "check_every": "2h", "min_between": "1h"}'),
       pg_temp.cycle(clock_timestamp()), pg_temp.cycle(clock_timestamp());
SELECT is(pg_temp.busy(20), '0 decisions', 'before min_between is over rows that come decide nothing');
SELECT cmp_ok(pg_temp.next('w') - clock_timestamp(), '>', interval '50 min', 'and are not looked at');
SELECT cmp_ok(pg_temp.next('w') - clock_timestamp(), '<', interval '61 min', 'until then');
SELECT lockstep.unwatch_table('public.staging');
SELECT is((SELECT count(*) FROM pg_trigger WHERE tgname = 'lockstep_table_changed'), 0::bigint,
          'unwatch_table takes it away');

SELECT pg_temp.gone();

-- A table that was dropped and made again is the same one, by its name.
SELECT pg_temp.trigger('again', '{"threshold": 1, "check_every": "1h"}'), pg_temp.looks();
DROP VIEW public.bare;
DROP TABLE public.staging;
SELECT is(pg_temp.looks(), 'again error (relation "public.staging" does not exist)',
          'a look at a table that is gone is an error');
SELECT is((SELECT message FROM lockstep.job_log WHERE job = 'again' AND event = 'error'),
    'relation "public.staging" does not exist; '
    'table public.staging is gone: create it again, or disable the job: lockstep job disable again',
    'the log says what to do');
CREATE TABLE public.staging (id int GENERATED ALWAYS AS IDENTITY, batch uuid, came timestamptz NOT NULL DEFAULT now(),
                             note text);
SELECT is(pg_temp.looks(), 'again wait (no row waits)', 'when it is there again it is looked at');
SELECT lockstep.watch_table('public.staging'), lockstep.dispatch_rows(ARRAY['public.staging'::regclass]::oid[]);
SELECT cmp_ok(pg_temp.next('again') - clock_timestamp(), '<', interval '2 s',
              'rows that have come bring the look forward');
UPDATE lockstep.schedule SET next_at = now() + interval '1 h', wake_at = now() + interval '1 h';
SELECT lockstep.dispatch_rows(NULL);
SELECT cmp_ok(pg_temp.next('again') - clock_timestamp(), '<', interval '2 s', 'so does a dispatcher that begins');
INSERT INTO public.staging DEFAULT VALUES;
SELECT (lockstep.dispatch('test', pg_temp.then('again'))).token AS token \gset
SELECT ok(lockstep.dispatch_writers(:'token'), 'and who writes to it is seen');
SELECT pg_temp.gone();

SELECT * FROM finish();
ROLLBACK;
