-- Reopening (sql/functions/gate/reopen.sql) and its effect on the gate. protocol.inc explains how messages are
-- written.
BEGIN;
SELECT plan(54);
\ir protocol.inc

-- Numbers: offsets; NULL: all that failed.
CREATE FUNCTION pg_temp.reopen(ord bigint, VARIADIC numbers bigint[]) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', o.verdict, o.reopened, o.blocking)
    FROM lockstep.reopen((pg_temp.phase(ord)).phase_id,
        CASE WHEN numbers[1] IS NOT NULL THEN ARRAY(SELECT (pg_temp.task(n)).task_id FROM unnest(numbers) AS n) END,
        'a test')
        AS o
$$;
CREATE FUNCTION pg_temp.gate(ord bigint, letter text DEFAULT 'A') RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', g.verdict, p."order")
    FROM lockstep.gate((pg_temp.phase(ord, letter)).phase_id, 1) AS g LEFT JOIN lockstep.phase p USING (phase_id)
$$;
-- The phases: order, + open, - not, . done
CREATE FUNCTION pg_temp.phases(letter text DEFAULT 'A') RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(p."order" ||
                      CASE WHEN p.done_at IS NOT NULL THEN '.' WHEN p.opened_at IS NOT NULL THEN '+' ELSE '-' END,
                      ' '
                      ORDER BY p."order")
    FROM lockstep.phase p WHERE p.run_no = (pg_temp.run(letter)).run_no
$$;
CREATE FUNCTION pg_temp.own(number bigint) RETURNS void LANGUAGE sql AS $$ -- what an adoption does
    UPDATE lockstep.task SET executor_no = 1, token = gen_random_uuid() WHERE task_id = (pg_temp.task(number)).task_id
$$;
CREATE FUNCTION pg_temp.release(ord bigint, letter text DEFAULT 'A') RETURNS text LANGUAGE sql AS $$
    SELECT (lockstep.release((pg_temp.phase(ord, letter)).phase_id, false)).ended
$$;

-- A run that failed in its second phase.
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:200<100 A3:300<200 A4:400<300 A5:end(5,4)');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.gate(200), 'opened 200', 'order 200 runs');
SELECT pg_temp.complete(1);
SELECT pg_temp.fail(2);
SELECT is(pg_temp.release(200), 'Failed', 'the run failed');
SELECT is(pg_temp.phases(), '100. 200. 300. 400.', 'all is done');
SELECT is(pg_temp.statuses(), 'Completed Completed Failed Cancelled Cancelled', 'or cancelled');
SELECT is(pg_temp.reopen(100, NULL), 'reopened 0', 'nothing failed in order 100');
SELECT is((pg_temp.run('A')).status, 'Failed', 'so nothing has changed');
SELECT is(pg_temp.reopen(200, NULL), 'reopened 1', 'what failed in order 200');
SELECT is(pg_temp.statuses(), 'Completed Completed Pending Cancelled Cancelled', 'is to be run again');
SELECT is(pg_temp.phases(), '100. 200+ 300. 400.', 'its phase is open: everything before it is done');
SELECT is((r).status || ' ' || coalesce((r).stop_after::text, 'none') || ' ' || (r).stop_lifted || ' ' ||
          (r).end_offset,
          'Running none 200 5',
          'the run goes on, its stop is lifted, its end is known') FROM pg_temp.run('A') AS r;
SELECT ok((t).executor_no IS NULL AND (t).token IS NULL AND (t).attempt_num = 2 AND (t).max_attempts = 2,
          'nobody has it; the next attempt, as many as before')
FROM pg_temp.task(2) AS t;
SELECT is(pg_temp.reopen(300, NULL), 'reopened 1', 'what was cancelled for it');
SELECT is(pg_temp.reopen(400, 4), 'reopened 1', 'or is named');
SELECT is(pg_temp.phases(), '100. 200+ 300- 400-', 'waits');
SELECT is((pg_temp.task(3)).attempt_num, 1, 'a cancelled task has made no attempt yet');
SELECT is(pg_temp.gate(400), 'orphans 300', 'order 300 is the oldest that is not open, and 200 is not finished');
SELECT pg_temp.own(2);
SELECT pg_temp.complete(2);
SELECT is(pg_temp.gate(400), 'opened 300', 'now it is');
SELECT pg_temp.own(3);
SELECT is(pg_temp.reopen(100, 0), 'refused 0 300', 'order 300 is at work: order 100 is not run again');
SELECT is(pg_temp.statuses(), 'Completed Completed Completed Pending Pending', 'nothing has changed');
UPDATE lockstep.task SET executor_no = NULL, token = NULL WHERE task_id = (pg_temp.task(3)).task_id;
SELECT is(pg_temp.reopen(100, 0), 'reopened 1', 'nobody has a task of it: it is closed');
SELECT is(pg_temp.phases(), '100+ 200. 300- 400-', 'and what is done stays done');
SELECT is(pg_temp.gate(300), 'orphans 300', 'the gate looks beyond it, at the phase that is not');
SELECT is((SELECT string_agg(attempt || '=' || status, ' ') FROM lockstep.task_attempt
           WHERE task_id = (pg_temp.task(0)).task_id),
          '1=Completed',
          'the attempt that completed is kept');
SELECT pg_temp.own(0);
SELECT pg_temp.complete(0);
SELECT is(pg_temp.gate(300), 'opened 300', 'then it opens');
SELECT pg_temp.own(3);
SELECT pg_temp.complete(3);
SELECT is(pg_temp.release(300), NULL, 'order 400 is left');
SELECT is(pg_temp.gate(400), 'opened 400', 'and opens');
SELECT pg_temp.own(4);
SELECT pg_temp.complete(4);
SELECT is(pg_temp.release(400), 'Completed', 'the run has completed after all');

-- Only failed tasks are retried: those that were cancelled for them stay, and the run has not completed.
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:300<200 A3:end(3,3)');
SELECT pg_temp.fail(0);
SELECT pg_temp.release(100);
SELECT pg_temp.reopen(100, 0);
SELECT pg_temp.own(0);
SELECT pg_temp.complete(0);
SELECT is(pg_temp.release(100), 'Failed',
          'a release of any phase of a reopened run tries its end; cancelled tasks are left');

-- A loss is no failure.
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:abort');
SELECT pg_temp.complete(0);
SELECT pg_temp.release(100);
SELECT is((pg_temp.run('A')).status || ' ' || pg_temp.statuses(), 'Failed Completed Cancelled', 'its producer gave up');
SELECT is(pg_temp.reopen(200, NULL), 'reopened 0', 'what was cancelled for that did not fail');

-- Runs of a serial queue keep their order.
SELECT pg_temp.tell('A0:100<0 A1:end(1,1) B0:100<0 B1:200<100 B2:end(2,2) C0:100<0');
SELECT pg_temp.fail(0);
SELECT pg_temp.release(100);
SELECT is(pg_temp.gate(100, 'B'), 'opened 100', 'A has ended, B goes');
SELECT pg_temp.complete(2);
SELECT pg_temp.gate(200, 'B');
SELECT pg_temp.fail(3);
SELECT is(pg_temp.release(200, 'B'), 'Failed', 'B failed in order 200');
SELECT pg_temp.reopen(100, 0);
SELECT (lockstep.reopen((pg_temp.phase(200, 'B')).phase_id, NULL, 'a test')).reopened;
SELECT is(pg_temp.phases('A') || ' ' || pg_temp.phases('B'), '100+ 100. 200-', 'B waits where it goes on');
SELECT is(pg_temp.gate(200, 'B'), 'run 200', 'for the end of A');
SELECT is(pg_temp.gate(100, 'C'), 'run 100', 'and C, which has not begun, for both');
SELECT pg_temp.own(0);
SELECT pg_temp.complete(0);
SELECT is(pg_temp.release(100), 'Completed', 'A has ended');
SELECT is(pg_temp.gate(200, 'B'), 'opened 200', 'B goes on');

-- A second reopening of a run that waits, of an earlier phase.
SELECT pg_temp.tell('A0:100<0 A1:end(1,1) B0..1:100<0 B2:200<100 B3:end(3,2)');
SELECT pg_temp.fail(0);
SELECT pg_temp.release(100);
SELECT pg_temp.gate(100, 'B');
SELECT pg_temp.complete(2, 3);
SELECT pg_temp.gate(200, 'B');
SELECT pg_temp.fail(4);
SELECT pg_temp.release(200, 'B');
SELECT pg_temp.reopen(100, 0);
CREATE FUNCTION pg_temp.reopen_b(ord bigint, number bigint) RETURNS bigint LANGUAGE sql AS $$
    SELECT o.reopened
    FROM lockstep.reopen((pg_temp.phase(ord, 'B')).phase_id, ARRAY[(pg_temp.task(number)).task_id], 'a test') AS o
$$;
SELECT is(pg_temp.reopen_b(200, 4) + pg_temp.reopen_b(100, 2), 2::bigint,
          'B is reopened in order 200, then in order 100');
SELECT is(pg_temp.phases('B'), '100- 200-', 'both wait');
SELECT is(pg_temp.gate(100, 'B'), 'run 100', 'for the end of A');
SELECT pg_temp.own(0);
SELECT pg_temp.complete(0);
SELECT is(pg_temp.release(100), 'Completed', 'A has ended');
SELECT is(pg_temp.gate(100, 'B'), 'opened 100', 'B begins again');
SELECT pg_temp.own(2);
SELECT pg_temp.reopen(100, 0);
SELECT pg_temp.reopen_b(100, 3);
SELECT is(pg_temp.phases('B'), '100+ 200-', 'and is not held up when A is reopened once more');
SELECT pg_temp.own(3);
SELECT pg_temp.complete(2, 3);
SELECT is(pg_temp.gate(200, 'B'), 'opened 200', 'nor is its next phase');
SELECT pg_temp.own(4);
SELECT pg_temp.complete(4);
SELECT is(pg_temp.release(200, 'B'), 'Completed', 'B has ended');
SELECT is(pg_temp.reopen_b(100, 2) + pg_temp.reopen_b(200, 4), 2::bigint,
          'it is reopened in order 100, then in order 200');
SELECT is(pg_temp.gate(200, 'B'), 'run 100', 'the first of them waits for A');
SELECT pg_temp.own(0);
SELECT pg_temp.complete(0);
SELECT pg_temp.release(100);
SELECT is(pg_temp.gate(200, 'B'), 'opened 100', 'A has ended, B begins');
SELECT pg_temp.own(2);
SELECT pg_temp.complete(2);
SELECT pg_temp.reopen(100, 0);
SELECT is(pg_temp.gate(200, 'B'), 'opened 200', 'and the other one waits for order 100 alone');
SELECT pg_temp.own(0);
SELECT pg_temp.complete(0);
SELECT pg_temp.release(100);
SELECT pg_temp.own(4);
SELECT pg_temp.complete(4);
SELECT pg_temp.release(200, 'B');
SELECT pg_temp.reopen(100, 0);
SELECT pg_temp.reopen_b(200, 4);
SELECT lockstep.run_cancel(pg_temp.run_of('B'), NULL, (SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q()));
SELECT pg_temp.own(0);
SELECT pg_temp.complete(0);
SELECT pg_temp.release(100);
SELECT pg_temp.reopen_b(100, 2), pg_temp.reopen_b(200, 4);
SELECT pg_temp.own(2);
SELECT pg_temp.reopen(100, 0);
SELECT pg_temp.reopen_b(100, 3);
SELECT is(pg_temp.phases('B'), '100+ 200-',
          'a phase of B that is at work is not closed for A, though B was cancelled while it waited');

-- A replay continues an implicit run where the replay before it closed the run. The stop of the run holds.
CREATE FUNCTION pg_temp.replay(at bigint, ord bigint, previous bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    made int;
    step text;
BEGIN
    INSERT INTO lockstep.replay (queue_id, mode, from_offset, to_offset, cursor, reason)
    VALUES (pg_temp.q(), 'missing', at, at + 1, at, 'a test') RETURNING replay_id INTO made;
    SELECT concat_ws(' ', s.action, s.why) INTO step
    FROM lockstep.replay_step(
        made, ROW('task', NULL, md5('x')::uuid, ord, previous, ARRAY[at], '{0}', ARRAY['{"sql": "SELECT 1"}'], '{NULL}',
                  '{NULL}', '{NULL}', 0, '\xd1', NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, false,
                  false)::lockstep.segment, true) AS s;
    PERFORM lockstep.replay_end(made, 'Completed');
    RETURN step || ' ' || (SELECT r.status FROM lockstep.run r WHERE r.queue_id = pg_temp.q());
END
$$;
SELECT pg_temp.queue();
UPDATE lockstep.queue SET next_offset = 9 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.replay(0, 100, 0), 'make missing Running', 'a replay makes the first phase of a run');
SELECT pg_temp.own(0);
SELECT pg_temp.fail(0);
SELECT is(lockstep.run_finish((SELECT r.run_no FROM lockstep.run r WHERE r.queue_id = pg_temp.q())), 'Failed',
          'which fails');
SELECT is(pg_temp.replay(1, 200, 100), 'make missing Failed', 'the next replay continues the run');
SELECT is(pg_temp.statuses(), 'Failed Cancelled', 'the task of the phase after the failed one is cancelled');

SELECT finish();
ROLLBACK;
