-- How an attempt ends (sql/functions/attempt/complete.sql, fail.sql) and how a run does (run_finish.sql, release.sql).
BEGIN;
SELECT plan(74);
\ir protocol.inc

-- complete: once, with the token.
SELECT pg_temp.tell('A0:100<0 A1:100<0 A2:200<100');
CREATE TEMP TABLE held AS SELECT t.* FROM pg_temp.task(0) AS t;
SELECT throws_ok(format('SELECT lockstep.complete(%s, %L)', task_id, gen_random_uuid()), 'LS001', NULL,
                 'a wrong token')
FROM held;
SELECT throws_ok(format('SELECT lockstep.complete(%s, NULL)', task_id), 'LS001', NULL, 'no token') FROM held;
SELECT throws_ok(format('SELECT lockstep.complete(%s, %L)', task_id + 1, token), 'LS001', NULL,
                 'the token of another task')
FROM held;
SELECT lives_ok(format('SELECT lockstep.complete(%s, %L)', task_id, token), 'the right token completes') FROM held;
SELECT is((t.status, t.token, t.error, t.started_at = now(), t.duration > '0', t.executor_no)::text,
          '(Completed,,,t,t,1)', 'the row says so')
FROM pg_temp.task(0) AS t;
SELECT throws_ok(format('SELECT lockstep.complete(%s, %L)', task_id, token), 'LS001',
                 'task ' || task_id || ': this attempt is no longer the current one',
                 'exactly once') FROM held;
SELECT throws_ok(format('SELECT lockstep.fail(%s, %L, true, 0, NULL, NULL, NULL, NULL, NULL)', task_id, token),
                 'LS001', NULL, 'and does not fail afterwards')
FROM held;
SELECT throws_ok(format('SELECT lockstep.fail(%s, NULL, true, 0, NULL, NULL, NULL, NULL, NULL)', task_id), 'LS001',
                 NULL, 'nor without a token')
FROM held;
SELECT lockstep.complete((t).task_id, (t).token, '2020-01-01 00:00+00') FROM pg_temp.task(1) AS t;
SELECT is((t.started_at = '2020-01-01 00:00+00', t.duration > '1 year')::text, '(t,t)',
          'a start that is given is kept')
FROM pg_temp.task(1) AS t;

-- fail: attempts left.
SELECT pg_temp.tell('A0:100<0 A1:100<0');
UPDATE lockstep.task SET max_attempts = 4 WHERE queue_id = pg_temp.q();
UPDATE lockstep.queue SET retry_intervals = '{5,70}' WHERE queue_id = pg_temp.q();
-- Fails, and says when the next attempt is due.
CREATE FUNCTION pg_temp.again(number bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text := pg_temp.fail(number);
    seconds numeric := (SELECT extract(epoch FROM scheduled_for - updated_at) FROM pg_temp.task(number));
BEGIN
    UPDATE lockstep.task
    SET token = gen_random_uuid(), executor_no = 1, attempt_num = attempt_num + 1, status = 'Pending'
    WHERE task_id = (pg_temp.task(number)).task_id AND status = 'Error';
    -- updated_at is read from the clock a little later than the time from which the interval is counted
    RETURN concat_ws(' ', said, round(ceil(seconds * 2) / 2, 1));
END
$$;
SELECT is(pg_temp.again(0), 'Error 5.0', 'the first interval');
SELECT is(pg_temp.again(0), 'Error 70.0', 'the second');
SELECT is(pg_temp.again(0), 'Error 70.0', 'the last repeats');
SELECT is((r).stop_after, NULL, 'the run goes on') FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.again(0), 'Failed', 'none is left');
SELECT is((t.status, t.token, t.scheduled_for, t.error, t.executor_no, t.duration)::text,
          '(Failed,,,"22012: division by zero",1,00:00:02)', 'the row says so')
FROM pg_temp.task(0) AS t;
SELECT is((SELECT string_agg((attempt, status, sqlstate, error, detail, hint, context, executor_no,
                              ended_at - started_at)::text,
                             ' '
                             ORDER BY attempt)
             FROM lockstep.task_attempt WHERE task_id = (pg_temp.task(0)).task_id AND attempt IN (1, 4)),
          '(1,Error,22012,"division by zero",d,h,c,1,00:00:02) (4,Failed,22012,"division by zero",d,h,c,1,00:00:02)',
          'each attempt is kept with what was said');
SELECT is((r).stop_after, 100::bigint, 'the policy has decided') FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.fail(1, true), 'Failed', 'what can not succeed is not tried again');
SELECT pg_temp.tell('A0:100<0');
UPDATE lockstep.task SET max_attempts = 3, payload = '{"sql": "", "retry_intervals": [0.5, 7]}'
WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.again(0) || ', ' || pg_temp.again(0), 'Error 0.5, Error 7.0',
          'intervals of the message come before those of the queue');
SELECT pg_temp.tell('A0:100<0');
UPDATE lockstep.task SET max_attempts = 3, payload = '{"sql": "", "retry_intervals": []}' WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.again(0), 'Error 1.0', 'an empty list is none');
SELECT pg_temp.tell('A0:100<0');
UPDATE lockstep.queue SET retry_intervals = '{5,70}' WHERE queue_id = pg_temp.q();
UPDATE lockstep.task SET max_attempts = 2 WHERE queue_id = pg_temp.q();
SELECT pg_temp.again(0), pg_temp.again(0);
SELECT lockstep.reopen((pg_temp.phase(100)).phase_id, NULL, 'a test');
UPDATE lockstep.task SET token = gen_random_uuid(), executor_no = 1, max_attempts = 9 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.again(0), 'Error 5.0', 'behind an operator''s retry the first interval comes again');

-- The policies.
SELECT pg_temp.tell('A0:100<0 A1:100<0 A2:200<100 A3:300<200');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.statuses(), 'Failed Pending Cancelled Cancelled',
          'stop: later phases are cancelled, its own goes on');
SELECT is((t.token, t.executor_no)::text, '(,)', 'the token of a cancelled task is void') FROM pg_temp.task(2) AS t;
SELECT is(pg_temp.tell(pg_temp.q(), 'A4:300<200 A5:400<300 A6:end(6,4)'), 'A:300~ A:400~ ended',
          'so is what comes later');
SELECT is((r.status, r.error)::text,
    '(Running,"task ' || (pg_temp.task(0)).task_id || ' of order 100 failed: division by zero")', 'one task runs')
FROM pg_temp.run('A') AS r;
SELECT pg_temp.complete(1);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Failed', 'then the run has failed');
SELECT is((r.ended_at IS NOT NULL, r.status)::text, '(t,Failed)', 'and ended') FROM pg_temp.run('A') AS r;
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Failed', 'asked again it says the same');
SELECT is((SELECT count(*) FROM lockstep.event_log WHERE event = 'run_ended' AND run_no = (pg_temp.run('A')).run_no),
          1::bigint, 'and has ended once');
SELECT pg_temp.tell('A0:100<0 A1:100<0 A2:100<0 A3:200<100');
SELECT lockstep.fail((t).task_id, (t).token, true, 0, 'X', 'x', NULL, NULL, NULL)
FROM generate_series(0, 2) AS n, pg_temp.task(n) AS t;
SELECT is(pg_temp.statuses(), 'Failed Failed Failed Cancelled', 'every task of the phase may fail');
SELECT pg_temp.tell('A0:100<0 A2:100<0');
SELECT pg_temp.fail(0);
SELECT is((r.stop_after, r.error)::text, '(0,"messages are lost: after seq 0 came seq 2 (offset 1)")',
          'a failure after a loss: the run stays stopped where it was, for the first reason')
FROM pg_temp.run('A') AS r;
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 A1:200<100 A2:end(2,2)');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.statuses(), 'Failed Pending', 'continue: nothing is cancelled');
UPDATE lockstep.phase SET opened_at = now() WHERE phase_id = (pg_temp.phase(200)).phase_id;
SELECT pg_temp.complete(1);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'PartiallyCompleted', 'and the run is partially completed');
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'pause'), 'A0:100<0 A1:end(1,1)');
SELECT pg_temp.fail(0);
SELECT is((r).status, 'Paused', 'pause: the run is paused') FROM pg_temp.run('A') AS r;
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), NULL, 'and does not end without an operator');

-- run_finish.
SELECT pg_temp.tell('A0:100<0');
SELECT pg_temp.complete(0);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), NULL, 'not before its end is known');
SELECT is(pg_temp.tell(pg_temp.q(), 'A1:end(1,1)'), 'ended=Completed', 'the end ends a run whose tasks are done');
SELECT is((SELECT (status, tasks, completed, "order")::text FROM lockstep.run_status
           WHERE run_no = (pg_temp.run('A')).run_no),
          '(Completed,1,1,)', 'the view agrees');
SELECT is((p).done_at IS NOT NULL, true, 'its last phase is done') FROM pg_temp.phase(100) AS p;
SELECT pg_temp.tell('A0:100<0 A1:end(1,1)');
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), NULL, 'not with a task that is pending');
UPDATE lockstep.task SET status = 'Processing' WHERE queue_id = pg_temp.q();
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), NULL, 'nor running');
UPDATE lockstep.task SET status = 'Error' WHERE queue_id = pg_temp.q();
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), NULL, 'nor to be tried again');
UPDATE lockstep.task SET status = 'Paused' WHERE queue_id = pg_temp.q();
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), NULL, 'nor paused');
UPDATE lockstep.task SET status = 'Pending' WHERE queue_id = pg_temp.q();
SELECT pg_temp.complete(0);
SELECT is((SELECT (unlocked, ended)::text FROM lockstep.release((pg_temp.phase(100)).phase_id, true)),
          '(t,Completed)', 'who releases the last phase ends the run');
SELECT is((SELECT (unlocked, ended)::text FROM lockstep.release((pg_temp.phase(100)).phase_id, false)), '(t,)',
          'once; without S there is nothing to unlock');
SELECT is((SELECT unlocked FROM lockstep.release((pg_temp.phase(100)).phase_id, true)), false,
          'an S that is not held is a bug that release tells');
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:end(2,2)');
SELECT pg_temp.complete(0);
SELECT is((SELECT ended FROM lockstep.release((pg_temp.phase(100)).phase_id, true)), NULL,
          'who releases an earlier phase does not');
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:end(2,2)');
SELECT pg_temp.fail(0);
SELECT is((SELECT ended FROM lockstep.release((pg_temp.phase(100)).phase_id, true)), 'Failed',
          'unless the run was stopped there');
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 A1:300<200 A2:end(2,2)');
SELECT pg_temp.complete(0);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'PartiallyCompleted', 'a rejected message counts as failed');
SELECT pg_temp.tell('A0:100<0 A1:end(2,1)');
SELECT pg_temp.complete(0);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Failed', 'an end that counts more than came: failed');
SELECT pg_temp.tell('100<0 100<0 50<0');
SELECT pg_temp.complete(0, 1);
SELECT is((SELECT ended FROM lockstep.release((pg_temp.task(0)).phase_id, true)), 'Completed',
          'an implicit run ends when the next one has begun');
SELECT pg_temp.tell('100<0');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.tell(pg_temp.q(), '50<0'), 'i2:50+',
          'a new run after one whose tasks are done: that one ends, and the new one waits for nobody');

-- What ends a run or opens a phase looks at its own tasks, however many others there are. Here they are one large
-- phase, the worst for a plan: ANALYZE takes every phase for one like it, unless the table says otherwise. A plan that
-- reads the table until a task fits reads all of it when there is none.
DELETE FROM lockstep.task;
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, first_offset, end_offset, ended_at)
VALUES (pg_temp.run_of('H'), pg_temp.queue(), 'stop', 'Completed', 0, 0, now());
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, done_at)
VALUES ((pg_temp.run('H')).run_no, pg_temp.q(), 1, 0, now());
INSERT INTO lockstep.task (phase_id, run_no, queue_id, status, "order", kafka_offset, payload)
SELECT p.phase_id, p.run_no, p.queue_id, 'Completed', p."order", n, '{}'
FROM lockstep.phase p, generate_series(1, 30000) AS n
WHERE p.queue_id = pg_temp.q();
-- Not of phase: autovacuum passes a table of so few rows over, and many of its phases are taken for the run's.
ANALYZE lockstep.task;
CREATE FUNCTION pg_temp.scans(command text, VARIADIC args text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before bigint;
    answer text;
    scans CONSTANT text := 'SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relid = ''lockstep.task''::regclass';
BEGIN
    EXECUTE scans INTO before;
    EXECUTE format('SELECT lockstep.' || command, VARIADIC args) INTO answer;
    answer := COALESCE(answer, 'NULL');
    EXECUTE format('SELECT %L || ((%s) - %s)', answer || ', scans: ', scans, before) INTO answer;
    RETURN answer;
END
$$;
SELECT pg_temp.tell('A0:100<0 A1:end(1,1)');
SELECT is(pg_temp.scans('run_finish(%s)', (pg_temp.run('A')).run_no::text), 'NULL, scans: 0',
          'a run that goes on is found without reading the table');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.scans('run_finish(%s)', (pg_temp.run('A')).run_no::text), 'Completed, scans: 0',
          'so is the status of one that ends');
SELECT pg_temp.tell('A0:100<0 A1:end(1,1)');
SELECT pg_temp.complete(0);
UPDATE lockstep.run SET reopened_at = now() WHERE run_no = (pg_temp.run('A')).run_no;
SELECT is(pg_temp.scans('run_finish(%s)', (pg_temp.run('A')).run_no::text), 'Completed, scans: 0',
          'of one that was reopened');
SELECT pg_temp.tell('A0:100<0 A1:end(1,1)');
SELECT pg_temp.complete(0);
UPDATE lockstep.run SET cancelled_at = now() WHERE run_no = (pg_temp.run('A')).run_no;
SELECT is(pg_temp.scans('run_finish(%s)', (pg_temp.run('A')).run_no::text), 'Completed, scans: 0',
          'of one that was cancelled too late');
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:end(2,2)');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.scans('release(%s, true)', (pg_temp.phase(100)).phase_id::text), '(t,,,,,,,), scans: 0',
          'and whether a phase was the last with work');
SELECT is(pg_temp.scans('gate(%s, 0)', (pg_temp.phase(200)).phase_id::text) ~ '^\(opened,.*\), scans: 0$', true,
          'and whether the next may open');
UPDATE lockstep.run SET error = 'x' WHERE run_no = (pg_temp.run('A')).run_no;
SELECT is(pg_temp.scans('run_failed_before(%s, 200)', (pg_temp.run('A')).run_no::text), 'false, scans: 0',
          'and whether something failed before');

-- The guard of the table, where the protocol has a fence of its own.
SELECT throws_ok(format('UPDATE lockstep.task SET status = ''Processing'' WHERE task_id = %s',
                        (pg_temp.task(0)).task_id),
                 '23514', NULL, 'a finished task does not run');

-- Classification.
SELECT is((SELECT array_agg(s.status ORDER BY 1) FROM lockstep.task_status s
           WHERE (lockstep.is_processable(s.status), lockstep.is_finished(s.status), lockstep.is_editable(s.status))
                 IS DISTINCT FROM (s.is_processable, s.is_finished, s.is_editable)), NULL,
          'the functions say what the table says');
SELECT is((SELECT array_agg(s.status ORDER BY s.status) FROM lockstep.task_status s
           WHERE s.is_finished AND NOT lockstep.is_failed(s.status)),
          '{Completed,Cancelled}'::lockstep.status[],
          'what is finished and neither completed nor cancelled has failed');
SELECT ok(NOT bool_or(lockstep.is_failed(s.status)), 'nothing that is not finished has failed')
FROM lockstep.task_status s WHERE NOT s.is_finished;
SELECT is((SELECT array_agg(s.status ORDER BY s.status) FROM lockstep.task_status s
           WHERE lockstep.is_ownable(s.status) <> (NOT s.is_finished AND s.status <> 'Paused')
             OR lockstep.is_unstarted(s.status) <> (NOT s.is_finished AND s.status <> 'Processing')),
          NULL,
          'an executor may have what is unfinished and not paused; unstarted is what is unfinished and not running');
SELECT is((SELECT array_agg(s.status ORDER BY s.status) FROM lockstep.task_status s WHERE lockstep.frees_key(s.status)),
          '{Failed,Cancelled,Terminated}'::lockstep.status[],
          'the key of a task that was not done is free, of one that was done in part it is not');
CREATE FUNCTION pg_temp.explained(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    lines text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        lines := lines || line || E'\n';
    END LOOP;
    RETURN lines;
END
$$;
SELECT unalike(pg_temp.explained(format(
    'SELECT FROM lockstep.task t WHERE t.phase_id = 1 AND NOT lockstep.%I(t.status)', f)),
               '%' || f || '%', 'a query compares the statuses itself: ' || f)
FROM unnest('{is_finished,is_processable,is_ownable,is_unstarted,frees_key}'::text[]) AS f;
SELECT ok(lockstep.task_is_type((pg_temp.task(0)).task_id, 'sql'), 'task_is_type: it is');
SELECT ok(NOT lockstep.task_is_type((pg_temp.task(0)).task_id, 'http'), 'it is not');
SELECT is(lockstep.task_is_type(-1, 'sql'), false, 'there is none');
SELECT is((SELECT array_agg(r.rolname::text || ' ' || f ORDER BY 1)
           FROM pg_roles r, unnest(ARRAY['is_processable(lockstep.status)', 'is_finished(lockstep.status)',
             'is_editable(lockstep.status)', 'is_failed(lockstep.status)', 'task_is_type(bigint, text)']) AS f
           WHERE r.rolname IN ('lockstep_executor', 'lockstep_task', 'lockstep_producer', 'lockstep_operator',
                               'lockstep_monitor')
             AND NOT has_function_privilege(r.oid, 'lockstep.' || f, 'EXECUTE')), NULL, 'every group may ask');

SELECT * FROM finish();
ROLLBACK;
