-- Lost attempts: which of them count, and how they end (sql/functions/give_up.sql, task_stopped.sql, adopt.sql, lose.sql).
-- protocol.inc explains how messages are written.
BEGIN;
SELECT plan(6);
\ir protocol.inc

INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
SELECT gen_random_uuid(), 'h', 1, 'v', 1, '{q}' FROM generate_series(1, 2);
CREATE FUNCTION pg_temp.states() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(t.status || COALESCE(': ' || t.error, ''), ', ' ORDER BY t.kafka_offset) FROM lockstep.task t WHERE t.queue_id = pg_temp.q()
$$;

-- Tasks of several phases were lost too often: the failure of the first one cancels the others.
SELECT pg_temp.tell('A0..1:100<0 A2:200<100 A3..4:300<200');
UPDATE lockstep.task SET lost_num = 5 WHERE queue_id = pg_temp.q();
SELECT is(lockstep.give_up(pg_temp.q()), 2::bigint, 'the two tasks of the first phase are given up');
SELECT is(pg_temp.states(), 'Failed: given up: 5 attempts were lost, Failed: given up: 5 attempts were lost, Cancelled, Cancelled, Cancelled',
          'those behind them are cancelled by the policy');
SELECT is((r).error, format('task %s of order 100 was lost 5 times', (pg_temp.task(0)).task_id), 'and the run says why') FROM pg_temp.run('A') AS r;
SELECT is(lockstep.give_up(pg_temp.q()), 0::bigint, 'then nothing is left to be given up');

-- The same, with tasks that an operator has cancelled.
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:300<200');
UPDATE lockstep.task SET cancelled_by = 'somebody' WHERE queue_id = pg_temp.q();
SELECT is(lockstep.give_up(pg_temp.q()), 1::bigint, 'the end of the first one cancels the others');
SELECT is((SELECT string_agg(event, ' ' ORDER BY event_id) FROM lockstep.event_log WHERE queue_id = pg_temp.q() AND event LIKE 'task_%'), 'task_cancelled',
          'each is told of once');

SELECT * FROM finish();
ROLLBACK;
