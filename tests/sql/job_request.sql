-- Requests: firings of jobs with SQL of their own, by a caller without a session of the tasks' login. A dispatcher
-- fires them, one after the other, and each ends with a run or an outcome.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');
\ir job.inc
CREATE FUNCTION pg_temp.fill(overlap text DEFAULT 'queue_one') RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(b.action || to_char(b.scheduled_for AT TIME ZONE 'UTC', ' HH24:MI'), ', '
                      ORDER BY b.scheduled_for)
    FROM lockstep.job_backfill('asks', '2020-01-01Z', '2020-01-01 03:00Z', overlap => fill.overlap) AS b
$$;
CREATE FUNCTION pg_temp.requests() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(to_char(r.scheduled_for AT TIME ZONE 'UTC', 'HH24:MI'), ', ')
    FROM lockstep.job_requests('asks') AS r
$$;
CREATE FUNCTION pg_temp.outcomes() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(
               to_char(o.scheduled_for AT TIME ZONE 'UTC', 'HH24:MI ') || o.outcome || COALESCE(': ' || o.reason, ''),
               ', ' ORDER BY o.scheduled_for)
    FROM lockstep.job_occurrence o WHERE o.scheduled_for < '2021-01-01'
$$;
-- The next decision, some seconds from now: its verdict and time; and its token and texts, as dispatch gives them.
CREATE TABLE decided AS SELECT d.* FROM lockstep.dispatch('none') AS d WITH NO DATA;
CREATE FUNCTION pg_temp.turn(later interval DEFAULT '1 s') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM decided;
    INSERT INTO decided SELECT d.* FROM lockstep.dispatch('test', clock_timestamp() + later) AS d;
    RETURN (SELECT COALESCE(d.verdict || COALESCE(to_char(d.scheduled_for AT TIME ZONE 'UTC', ' HH24:MI'), ''),
                            'nothing')
            FROM decided d);
END
$$;
CREATE FUNCTION pg_temp.fired() RETURNS uuid LANGUAGE sql AS $$
    SELECT lockstep.ask_fire(d.token, d.mark, d.query, d.words) FROM decided d
$$;
CREATE FUNCTION pg_temp.ended() RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL
$$;
SELECT lockstep.job_define(
    pg_temp.spec('asks', '{"enabled": false,
                           "query": "SELECT 100 AS \"order\", ''SELECT 1'' AS sql, ${region}::text AS name",
                           "defaults": {"region": "eu"},
                           "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}') - 'tasks');

-- A range.
SELECT is(pg_temp.fill(), 'request 00:00, request 01:00, request 02:00', 'each time of a range becomes a request');
SELECT is(pg_temp.fill(), 'leave 00:00, leave 01:00, leave 02:00', 'once');
SELECT is((SELECT DISTINCT action FROM lockstep.job_backfill_ask('asks', '2020-01-01Z', '2020-01-01 03:00Z', NULL,
                                                                 'allow', NULL)), 'leave',
          'nor does a command fire it that runs the query itself');
SELECT is(pg_temp.requests(), '00:00, 01:00, 02:00', 'they can be seen');
SELECT is((SELECT count(*) FROM lockstep.run), 0::bigint, 'and nothing has fired');
SELECT is((SELECT d.verdict FROM lockstep.dispatch('test', clock_timestamp() + interval '1 s', p_asks => false) AS d),
          NULL, 'a dispatcher that runs SQL of another job has none of them');
SELECT is(pg_temp.turn(), 'ask 00:00', 'the oldest has its turn');
SELECT is((SELECT d.words ->> 'source' FROM decided d), 'backfill by ' || session_user, 'with the words of its time');
SELECT is(pg_temp.fired(), lockstep.job_run_id((SELECT s.schedule_uid FROM lockstep.schedule s), '2020-01-01Z'),
          'and fires with the id that its time has');
SELECT is(pg_temp.requests(), '01:00, 02:00', 'then it is done');
SELECT is(pg_temp.turn(), 'wait 01:00', 'queue_one: the next one waits for the end of that run');
SELECT is(pg_temp.turn(), 'nothing', 'and so do those behind it');
SELECT pg_temp.ended();
SELECT is(pg_temp.turn('3 s'), 'ask 01:00', 'and has its turn then');
SELECT is((SELECT (lockstep.dispatch_failed('test', d.token, false, 'it failed')).verdict FROM decided d), 'error',
          'a query that fails');
SELECT is(pg_temp.outcomes(), '00:00 fired, 01:00 error: it failed', 'is the outcome of its time');
SELECT is((SELECT e.message FROM lockstep.job_event e WHERE e.event = 'error'), 'it failed', 'the log has the reason');
SELECT is(pg_temp.turn('3 s'), 'ask 02:00', 'the times behind it have theirs');
SELECT is((SELECT (lockstep.dispatch_failed('test', d.token, true, 'cut off')).verdict FROM decided d), 'wait',
          'a session that was lost is no fault of the job');
SELECT throws_ok('SELECT pg_temp.fired()', 'LS002', NULL, 'the token of a session that was lost cannot fire any more');
SELECT is(pg_temp.turn('1 s') || pg_temp.turn('3 s'), 'nothingask 02:00', 'it is tried again after a pause');
SELECT lockstep.dispatch_begin();
SELECT throws_ok('SELECT pg_temp.fired()', 'LS002', NULL, 'nor can what a dispatcher before this one has asked for');
SELECT is(pg_temp.turn(), 'ask 02:00', 'whose request has its turn again');
SELECT lockstep.job_set('asks', '{"defaults": {"region": "us"}}');
SELECT throws_ok('SELECT pg_temp.fired()', 'LS002', NULL, 'a change of the job voids the token');
SELECT is(pg_temp.turn(), 'ask 02:00', 'whose request has its turn');
SELECT is((SELECT d.words ->> 'region' FROM decided d), 'us', 'with the job as it is now');
UPDATE lockstep.job_ask SET failing_since = clock_timestamp() - interval '6 min';
SELECT is((SELECT (lockstep.dispatch_failed('test', d.token, true, 'cut off')).verdict FROM decided d), 'error',
          'after five minutes in vain it is an error');
SELECT is(pg_temp.outcomes(), '00:00 fired, 01:00 error: it failed, 02:00 error: cut off', 'and nothing is left');
SELECT is(pg_temp.turn('20 min'), 'nothing', 'to do');

-- A run begins while the SQL of a request runs: the request waits for its end.
CREATE FUNCTION pg_temp.overtaken() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text := pg_temp.turn();
BEGIN
    INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, job_id)
    SELECT gen_random_uuid(), j.queue_id, 'stop', 'Running', j.job_id FROM lockstep.job j;
    BEGIN
        PERFORM pg_temp.fired();
    EXCEPTION
        WHEN OTHERS THEN
            said := said || ', ' || (SELECT (lockstep.dispatch_failed('test', d.token, false, SQLERRM)).verdict
                                     FROM decided d);
    END;
    said := said || ', ' || pg_temp.turn();
    PERFORM pg_temp.ended();
    RETURN said || ', ' || pg_temp.turn('4 s');
END
$$;
SELECT pg_temp.fill();
SELECT is(pg_temp.overtaken(), 'ask 01:00, wait, wait 01:00, ask 01:00', 'a time of a range');
SELECT lockstep.job_withdraw('asks'), lockstep.job_run('asks');
SELECT matches(pg_temp.overtaken(), 'ask .*, wait, wait .*, ask ', 'a run by hand');
SELECT isnt(pg_temp.fired(), NULL, 'which fires then');
SELECT pg_temp.ended();
DELETE FROM lockstep.job_occurrence WHERE schedule_id IS NULL;

-- The same range again: the times that have not fired are asked for again.
SELECT is(pg_temp.fill('allow'), 'request 01:00, request 02:00', 'a time that failed can be asked for again');
SELECT is(pg_temp.turn(), 'ask 01:00', 'its turn');
SELECT isnt(pg_temp.fired(), NULL, 'fires');
SELECT is(pg_temp.turn(), 'ask 02:00', 'allow: the next one does not wait');
SELECT lockstep.job_set('asks', '{"query": "SELECT 1 AS \"order\", ''x'' AS sql WHERE false"}');
SELECT is(pg_temp.turn(), 'ask 02:00', 'a query without a row');
SELECT is(pg_temp.fired(), NULL, 'fires nothing');
SELECT is(pg_temp.outcomes(), '00:00 fired, 01:00 fired, 02:00 skipped: its query returned no task',
          'and its time is skipped');
SELECT is(pg_temp.fill('skip'), 'skip 02:00', 'skip: what meets an open run is left out');

-- By hand.
SELECT throws_ok($$SELECT lockstep.job_run('asks')$$, 'LS002', NULL, 'while a run is open it is refused');
SELECT pg_temp.ended();
SELECT lockstep.job_run('asks', '{"region": "pl"}') AS run \gset
SELECT is((SELECT r.run_id FROM lockstep.job_requests('asks') AS r), :'run', 'a run by hand is a request with its id');
SELECT throws_like($$SELECT lockstep.job_run('asks')$$, 'a run of job asks waits for a dispatcher',
                   'which holds up a second one');
SELECT pg_temp.turn();
SELECT is((SELECT d.words ->> 'region' FROM decided d), 'pl', 'it has its parameters');
SELECT is(pg_temp.fired(), NULL, 'a query without a row fires nothing');
SELECT is((SELECT o.outcome || ': ' || o.source FROM lockstep.job_occurrence o WHERE o.schedule_id IS NULL),
          'skipped: manual by ' || session_user, 'which is its outcome');
SELECT lockstep.job_set('asks', '{"query": "SELECT 1 AS \"order\", ''x'' AS sql"}');
SELECT lockstep.job_run('asks') AS run \gset
SELECT pg_temp.turn();
SELECT is(pg_temp.fired(), :'run', 'it fires as the run that was said');
SELECT is((SELECT started_by FROM lockstep.run WHERE run_id = :'run'), 'manual by ' || session_user, 'and says who');
SELECT pg_temp.ended();
SELECT lockstep.job_run('asks');
SELECT is(lockstep.job_withdraw('asks'), 1, 'a request is withdrawn');
SELECT is(lockstep.job_withdraw('asks') || pg_temp.turn(), '0nothing', 'and gone');
SELECT lockstep.job_run('asks'), pg_temp.turn();
SELECT lockstep.job_withdraw('asks');
SELECT throws_ok('SELECT pg_temp.fired()', 'LS002', NULL, 'one whose SQL runs does not fire');
SELECT lockstep.job_run('asks');
SELECT lockstep.job_set('asks', '{"query": "SELECT ${gone} AS \"order\", ''x'' AS sql", "defaults": {"gone": 1}}');
UPDATE lockstep.job SET spec = spec - 'defaults';
SELECT is(pg_temp.turn(), 'error', 'a word that the job has no longer is an error, and stops no dispatcher');
SELECT lockstep.job_set('asks', '{"query": "SELECT 1 AS \"order\", ''x'' AS sql"}'), lockstep.job_run('asks');
SELECT lockstep.job_sweep(p_most => 1);
SELECT is((SELECT count(*) FROM lockstep.job_requests('asks')), 1::bigint, 'a sweep leaves a request alone');
SELECT lockstep.job_withdraw('asks'), pg_temp.ended();
-- A schedule that is due again as soon as its SQL has ended keeps no request from its turn.
SELECT lockstep.job_run('asks');
SELECT lockstep.job_define(
    pg_temp.spec('busy', '{"query": "SELECT 1",
                           "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}') - 'tasks');
CREATE FUNCTION pg_temp.due(p_at interval) RETURNS text LANGUAGE sql AS $$
    UPDATE lockstep.schedule s SET next_at = a.wake_at + p_at, wake_at = a.wake_at + p_at, asked_until = NULL
    FROM lockstep.job_ask a
    WHERE a.wake_at IS NOT NULL AND s.job_id = (SELECT j.job_id FROM lockstep.job j WHERE j.name = 'busy');
    SELECT pg_temp.turn();
    SELECT d.job FROM decided d
$$;
SELECT is(pg_temp.due('-1 ms'), 'busy', 'before the request it has its turn');
SELECT is(pg_temp.due('1 ms'), 'asks', 'behind it the request has');
SELECT lockstep.job_withdraw('asks'), lockstep.job_delete('busy'), pg_temp.ended();
-- The oldest first, also behind an edit, which gives all of them a new token.
SELECT lockstep.job_set('asks', '{"overlap": "allow"}');
SELECT lockstep.job_run('asks') AS run \gset
SELECT pg_temp.fill('allow');
SELECT lockstep.job_set('asks', '{"description": "edited"}');
SELECT pg_temp.turn();
SELECT is((SELECT a.run_id FROM decided d JOIN lockstep.job_ask a USING (token)), :'run',
          'the oldest request has the first turn, also behind an edit');
SELECT pg_temp.fired();
SELECT is(pg_temp.requests(), '02:00', 'a time waits');
SELECT lockstep.schedule_remove('asks', 's');
SELECT is(pg_temp.requests(), NULL, 'without its schedule it does not');
SELECT is((SELECT e.event || ': ' || e.message FROM lockstep.job_event e ORDER BY e.job_event_id DESC OFFSET 1 LIMIT 1),
          'skipped: its schedule was removed', 'and the log says so');
SELECT lockstep.job_run('asks');
SELECT lockstep.job_define('{"job": "asks", "watch": true,
                             "schedules": [{"name": "s", "kind": "cron", "expr": "0 2 * * *"}]}');
SELECT is((SELECT o.outcome || ': ' || o.reason FROM lockstep.job_occurrence o ORDER BY o.occurrence_id DESC LIMIT 1),
          'skipped: the job has become a watch', 'a watch has no requests');
SELECT lockstep.job_delete('asks');
SELECT is((SELECT count(*) FROM lockstep.job_ask), 0::bigint, 'with the job its requests go');
SELECT finish();
ROLLBACK;
