-- Lost attempts: which of them count, and how they end; the rows of dead executors (sql/functions/adopt/give_up.sql,
-- task_stopped.sql, adopt.sql, lose.sql). protocol.inc explains how messages are written.
BEGIN;
SELECT plan(37);
\ir protocol.inc

INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
SELECT gen_random_uuid(), 'h', 1, 'v', 1, '{q}' FROM generate_series(1, 2);
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), 2)::text', 'executor');
CREATE FUNCTION pg_temp.states() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(t.status || COALESCE(': ' || t.error, ''), ', ' ORDER BY t.kafka_offset) FROM lockstep.task t
    WHERE t.queue_id = pg_temp.q()
$$;

-- Tasks of several phases were lost too often: the failure of the first one cancels the others.
SELECT pg_temp.tell('A0..1:100<0 A2:200<100 A3..4:300<200');
UPDATE lockstep.task SET lost_num = 5 WHERE queue_id = pg_temp.q();
SELECT is(lockstep.give_up(pg_temp.q()), 2::bigint, 'the two tasks of the first phase are given up');
SELECT is(pg_temp.states(),
    'Failed: given up: 5 attempts were lost, Failed: given up: 5 attempts were lost, Cancelled, Cancelled, Cancelled',
          'those behind them are cancelled by the policy');
SELECT is((r).error, format('task %s of order 100 was lost 5 times', (pg_temp.task(0)).task_id),
          'and the run says why')
FROM pg_temp.run('A') AS r;
SELECT is(lockstep.give_up(pg_temp.q()), 0::bigint, 'then nothing is left to be given up');

-- The same, with tasks that an operator has cancelled.
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:300<200');
UPDATE lockstep.task SET cancelled_by = 'somebody' WHERE queue_id = pg_temp.q();
SELECT is(lockstep.give_up(pg_temp.q()), 1::bigint, 'the end of the first one cancels the others');
SELECT is((SELECT string_agg(event, ' ' ORDER BY event_id) FROM lockstep.event_log
           WHERE queue_id = pg_temp.q() AND event LIKE 'task_%'),
          'task_cancelled',
          'each is told of once');

-- A dead owner. Only attempts that had begun count; those that may have begun are doubted.
CREATE FUNCTION pg_temp.adopt() RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(a.kafka_offset || '#' || a.attempt_num || CASE WHEN a.doubted THEN '?' ELSE '' END, ' '
                               ORDER BY a.kafka_offset),
                    '')
    FROM lockstep.adopt(pg_temp.q(), 2, 10, '{}') AS a
$$;
CREATE FUNCTION pg_temp.counts() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s/%s/%s', t.attempt_num, t.lost_num, t.max_attempts), ' ' ORDER BY t.kafka_offset)
    FROM lockstep.task t WHERE t.queue_id = pg_temp.q()
$$;
CREATE FUNCTION pg_temp.noted() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s#%s %s: %s', t.kafka_offset, a.attempt, a.status, a.error), ', '
                      ORDER BY t.kafka_offset, a.attempt)
    FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id) WHERE t.queue_id = pg_temp.q()
$$;
SELECT pg_temp.tell('A0..1:100<0 A2:200<100');
UPDATE lockstep.task SET status = 'Processing', started_at = now() WHERE task_id = (pg_temp.task(0)).task_id;
SELECT is(pg_temp.adopt(), '0#2? 1#1?',
          'the one that was shown as running is at its next attempt; the other one may have begun');
SELECT is(pg_temp.adopt(), '2#1', 'a phase that is not open: nothing of it can have begun');
SELECT is(pg_temp.counts(), '2/1/2 1/0/1 1/0/1', 'one attempt is lost');
SELECT is(pg_temp.noted(), '0#1 Pending: lost: its executor died', 'and one is noted');
SELECT lockstep.give_back(pg_temp.q(), ARRAY[(pg_temp.task(1)).task_id], ARRAY[(pg_temp.task(1)).token]);
SELECT is(pg_temp.adopt(), '1#1?', 'the doubt goes with the task');

-- The incarnation is lost, the process lives on and says that it was not the tasks.
CREATE TEMP TABLE before AS SELECT (SELECT executor_id FROM lockstep.executor WHERE executor_no = 1) AS id, t.*
FROM lockstep.task t LIMIT 0;
SELECT pg_temp.tell('A0..1:100<0');
UPDATE lockstep.task SET status = 'Processing', started_at = now() WHERE queue_id = pg_temp.q();
INSERT INTO before
SELECT (SELECT executor_id FROM lockstep.executor WHERE executor_no = 1), t.* FROM lockstep.task t
WHERE t.queue_id = pg_temp.q();
SELECT lockstep.spare(min(id::text)::uuid, array_agg(task_id), array_agg(token), array_agg(attempt_num)) FROM before
WHERE kafka_offset = 0;
SELECT is((t.status, t.executor_no, t.token = b.token)::text, '(Pending,1,t)',
          'before anybody has adopted it: the row keeps its owner until its sessions are gone')
FROM pg_temp.task(0) AS t JOIN before b USING (task_id);
SELECT is(pg_temp.adopt(), '0#2? 1#2?', 'both are adopted');
SELECT is(pg_temp.counts(), '2/0/2 2/1/2', 'the one of which it was not said counts');
SELECT lockstep.spare(min(id::text)::uuid, array_agg(task_id), array_agg(token), array_agg(attempt_num)) FROM before;
SELECT is(pg_temp.counts(), '2/0/2 2/0/2', 'if it is said later, that is taken back');
SELECT is(pg_temp.noted(),
    '0#1 Pending: ended with the sessions of its executor, 1#1 Pending: ended with the sessions of its executor',
    'the attempts are noted');

-- What a living executor says of its attempts.
CREATE FUNCTION pg_temp.lose(kind text) RETURNS text LANGUAGE sql AS $$
    SELECT lockstep.lose(pg_temp.q(), ARRAY[(pg_temp.task(0)).task_id], ARRAY[(pg_temp.task(0)).token], 'why', kind);
    SELECT pg_temp.counts() || coalesce(' +' || round(extract(epoch FROM (t).scheduled_for - (t).updated_at)), '') ||
    coalesce(' ' || (t).doubted, '')
    FROM pg_temp.task(0) AS t
$$;
CREATE FUNCTION pg_temp.due() RETURNS text LANGUAGE sql AS $$
    UPDATE lockstep.task SET scheduled_for = NULL WHERE queue_id = pg_temp.q();
    SELECT pg_temp.adopt()
$$;
SELECT pg_temp.tell('A0:100<0');
SELECT is(pg_temp.lose('doubt'), '1/0/1 true', 'in doubt: it keeps its number');
SELECT pg_temp.due();
SELECT is(pg_temp.lose('stopped'), '2/0/2 true', 'its executor ends: not counted');
SELECT pg_temp.due();
SELECT is(pg_temp.lose('ended'), '3/0/3 +10 true', 'somebody ended it: not counted, and it waits');
SELECT pg_temp.due();
SELECT is(pg_temp.lose('ended'), '4/0/4 +60 true', 'for longer each time');
SELECT pg_temp.due();
SELECT is(pg_temp.lose('server'), '5/0/5 +300 true', 'the server ended it: the same');
SELECT pg_temp.due();
SELECT is(pg_temp.lose('lost'), '6/1/6 true', 'it may be the cause: counted');
UPDATE lockstep.queue SET max_lost = 1 WHERE queue_id = pg_temp.q();
SELECT is(lockstep.give_up(pg_temp.q()) || pg_temp.statuses(), '1Failed', 'and given up in the end');

-- Another session ends it again and again, or it ends itself.
SELECT pg_temp.tell('A0:100<0');
UPDATE lockstep.queue SET max_lost = 2 WHERE queue_id = pg_temp.q();
SELECT pg_temp.lose('server'), pg_temp.due() FROM generate_series(1, 30);
SELECT pg_temp.lose('ended'), pg_temp.due() FROM generate_series(1, 20);
SELECT is(pg_temp.counts(), '51/0/51', 'twenty times it is put off');
SELECT pg_temp.lose('ended'), pg_temp.due();
SELECT is(pg_temp.counts(), '52/1/52', 'then each time counts');
SELECT pg_temp.lose('ended');
SELECT is(lockstep.give_up(pg_temp.q()) || pg_temp.statuses(), '1Failed', 'and it is given up');

-- A retry begins a new series of attempts: those before it count no more.
CREATE FUNCTION pg_temp.retry() RETURNS text LANGUAGE sql AS $$
    SELECT lockstep.reopen((pg_temp.phase(100)).phase_id, NULL, 'a test');
    SELECT pg_temp.due()
$$;
SELECT pg_temp.tell('A0:100<0');
UPDATE lockstep.queue SET max_lost = 3 WHERE queue_id = pg_temp.q();
SELECT pg_temp.lose('lost'), pg_temp.due() FROM generate_series(1, 2);
SELECT pg_temp.lose('ended'), pg_temp.due() FROM generate_series(1, 25);
SELECT lockstep.give_up(pg_temp.q());
SELECT pg_temp.retry();
SELECT is(pg_temp.lose('server'), '26/0/26 +1', 'put off for as short as the first time');
SELECT pg_temp.due();
SELECT is(pg_temp.lose('ended'), '27/0/27 +10', 'and not counted, as none of the twenty');
SELECT pg_temp.due(), pg_temp.fail(0, true);
SELECT pg_temp.tell('A0:100<0');
SELECT pg_temp.lose('ended'), pg_temp.due() FROM generate_series(1, 21);
SELECT is(pg_temp.lose('server'), '23/1/23 +600', 'put off again and again');
SELECT lockstep.task_cancel((pg_temp.task(0)).task_id), lockstep.task_retry((pg_temp.task(0)).task_id);
SELECT is(pg_temp.due() || ' ' || pg_temp.lose('server'), '0#23 24/0/24 +1',
          'so does a retry of one that was cancelled');
SELECT pg_temp.due();
SELECT is(pg_temp.lose('ended'), '25/0/25 +10', 'of which none counts, either');
SELECT pg_temp.due(), pg_temp.fail(0, true);

-- The last task of a run that has its end: no other statement would try to end the run.
SELECT pg_temp.tell('A0:100<0 A1:end(1,1)');
UPDATE lockstep.task SET lost_num = 5, token = NULL, executor_no = NULL WHERE queue_id = pg_temp.q();
SELECT lockstep.give_up(pg_temp.q());
SELECT ok((r).ended_at IS NOT NULL, 'a run whose last task is given up ends') FROM pg_temp.run('A') AS r;

-- Executors and events of long ago are forgotten, a batch at a time.
INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues, ended_at, ended_why)
SELECT gen_random_uuid(), 'old', 1, 'v', 1, '{q}', now() - interval '2 days', 'lost' FROM generate_series(1, 1500);
INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
VALUES (gen_random_uuid(), 'alive', 1, 'v', 1, '{q}');
INSERT INTO lockstep.event_log (at, event, detail)
SELECT now() - interval '31 days', 'executor_died', 'old' FROM generate_series(1, 3);
SELECT is(lockstep.executor_forget(100), 1003, 'a batch of executors that ended, and the events of no queue');
SELECT is(lockstep.executor_forget(100), 401, 'the rest of them');
SELECT is((SELECT count(*) FROM lockstep.executor WHERE host = 'old'), 99::bigint, 'the newest stay');
SELECT is((SELECT count(*) FROM lockstep.executor WHERE ended_at IS NULL), 2::bigint, 'and those that have not ended');
SELECT is(lockstep.executor_forget(100), 0, 'then there is nothing to forget');

SELECT * FROM finish();
ROLLBACK;
