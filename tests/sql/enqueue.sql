-- lockstep.enqueue with an id and a policy of the caller's: the same once more is one run, something else under the id
-- is refused. tests/e2e/enqueue.sh has the way to the topic.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic, on_failure) VALUES ('q', 't', 'stop'), ('other', 'u', 'stop');
CREATE FUNCTION pg_temp.id(letter text) RETURNS uuid LANGUAGE sql AS $$
    SELECT ('00000000-0000-4000-8000-' || lpad(ascii(letter)::text, 12, '0'))::uuid
$$;
CREATE FUNCTION pg_temp.tasks(VARIADIC n int[]) RETURNS jsonb[] LANGUAGE sql AS $$
    SELECT array_agg(jsonb_build_object('order', 100, 'sql', 'SELECT ' || i)) FROM unnest(n) AS i
$$;
CREATE FUNCTION pg_temp.runs() RETURNS text LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM lockstep.run) || ' ' || (SELECT count(*) FROM lockstep.enqueued)
$$;

SELECT is(lockstep.enqueue('q', pg_temp.tasks(1, 2), 'night', pg_temp.id('A')), pg_temp.id('A'),
    'the run has the id that the caller has chosen');
SELECT is(lockstep.enqueue('q', pg_temp.tasks(1, 2), 'night', pg_temp.id('A')), pg_temp.id('A'),
    'the same once more is this run');
SELECT is(lockstep.enqueue('q', ARRAY['{"sql":"SELECT 1","order":100}', '{"order" : 100, "sql": "SELECT 2"}']::jsonb[],
    'night', pg_temp.id('A')), pg_temp.id('A'), 'however it is written');
SELECT is(pg_temp.runs(), '1 1', 'and nothing was enqueued twice');
SELECT is((SELECT count(*) FROM lockstep.event_log WHERE event = 'run_enqueued'), 1::bigint, 'nor said so');
SELECT throws_ok($$SELECT lockstep.enqueue('q', pg_temp.tasks(1, 3), 'night', pg_temp.id('A'))$$, 'LS002', NULL,
    'another task under this id is refused');
SELECT throws_ok($$SELECT lockstep.enqueue('q', pg_temp.tasks(2, 1), 'night', pg_temp.id('A'))$$, 'LS002', NULL,
    'another order of them');
SELECT throws_ok($$SELECT lockstep.enqueue('q', pg_temp.tasks(1, 2), NULL, pg_temp.id('A'))$$, 'LS002', NULL,
    'another name');
SELECT throws_ok($$SELECT lockstep.enqueue('q', pg_temp.tasks(1, 2), 'night', pg_temp.id('A'), 'stop')$$, 'LS002', NULL,
    'another policy');
SELECT throws_like($$SELECT lockstep.enqueue('q', '{NULL}'::jsonb[], 'night', pg_temp.id('A'))$$, 'task 1:%',
    'what is wrong by itself is refused as ever');
SELECT is(lockstep.enqueue('other', pg_temp.tasks(7), NULL, pg_temp.id('A')), pg_temp.id('A'),
    'another queue has ids of its own');
SELECT is(pg_temp.runs(), '2 2', 'two runs');
UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp();
DELETE FROM lockstep.enqueued;
SELECT is(lockstep.enqueue('q', pg_temp.tasks(1, 2), 'night', pg_temp.id('A')), pg_temp.id('A'),
    'also when it has ended');
SELECT is(pg_temp.runs(), '2 0', 'it is not sent again');
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status) SELECT pg_temp.id('B'), queue_id, 'stop', 'Running'
    FROM lockstep.queue WHERE name = 'q';
SELECT throws_like($$SELECT lockstep.enqueue('q', pg_temp.tasks(1), NULL, pg_temp.id('B'))$$,
    'run % exists, and whether it has these tasks is not known: %', 'of a run that came otherwise nothing is claimed');
SELECT throws_like(
    $$SELECT lockstep.enqueue('q', pg_temp.tasks(1), NULL, lockstep.implicit_run_id(pg_temp.id('D'), 1))$$,
    'run: % is an id of version 8, which Lockstep makes itself', 'the id of an implicit run is refused');
SELECT throws_like(
    $$SELECT lockstep.enqueue('q', pg_temp.tasks(1), NULL, '00000000-0000-5000-8000-000000000000')$$,
    'run: % is an id of version 5, which Lockstep makes itself', 'also one of the first epoch');

SELECT is(lockstep.enqueue('q', pg_temp.tasks(1), NULL, pg_temp.id('C'), 'continue'), pg_temp.id('C'),
    'a policy of its own');
SELECT is((SELECT r.on_failure || ' ' || (e.messages[1]::jsonb ->> 'run_on_failure') FROM lockstep.run r
    JOIN lockstep.enqueued e USING (run_no) WHERE r.run_id = pg_temp.id('C')), 'continue continue',
          'which the run and its first message have');
SELECT lockstep.enqueue('q', pg_temp.tasks(1), on_failure => 'pause');
SELECT is((SELECT on_failure FROM lockstep.run ORDER BY run_no DESC LIMIT 1), 'pause', 'a run with a new id, too');
SELECT throws_like($$SELECT lockstep.enqueue('q', pg_temp.tasks(1), on_failure => 'explode')$$,
    'on_failure: "explode" is not known', 'a policy that is none is refused');
SELECT isnt(lockstep.enqueue('q', pg_temp.tasks(1)), lockstep.enqueue('q', pg_temp.tasks(1)),
    'without an id each call is a run');
SELECT * FROM finish();
ROLLBACK;
