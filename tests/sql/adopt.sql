-- Adoption and return (sql/functions/adopt/adopt.sql, give_back.sql). protocol.inc explains how messages are
-- written.
BEGIN;
SELECT plan(53);
\ir protocol.inc

-- One call of executor 2: the verdict, or the adopted tasks as offset#attempt, after the order of their phase (- not
-- open).
CREATE FUNCTION pg_temp.adopt(most int DEFAULT 10, held bigint[] DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN min(a.verdict) = 'adopted'
                THEN min(a."order") || CASE WHEN bool_and(a.is_open) THEN ': ' ELSE '-: ' END
                     || string_agg(a.kafka_offset || '#' || a.attempt_num, ' ' ORDER BY a.kafka_offset)
                ELSE concat_ws(' ', min(a.verdict), min(a.wait_ms)) END
    FROM lockstep.adopt(pg_temp.q(), 2, most, held) AS a
$$;

INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
SELECT gen_random_uuid(), 'h', 1, 'v', 1, '{q}' FROM generate_series(1, 2);
SELECT is((SELECT array_agg(executor_no ORDER BY 1) FROM lockstep.executor), '{1,2}',
          'the claims here are of executor 1, the adoptions of 2');
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), 1)::text', 'executor');
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), 2)::text', 'executor');

-- A closed phase with nothing left to do, which no executor's gate would open.
CREATE FUNCTION pg_temp.offer(enough bigint[] DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', a.verdict, a.run_no - min(r.run_no) OVER (), a."order")
    FROM lockstep.adopt(pg_temp.q(), 2, 9, '{}', enough) AS a, lockstep.run r WHERE r.queue_id = pg_temp.q() LIMIT 1
$$;
CREATE FUNCTION pg_temp.declared(letter text, ord bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.task t SET status = 'Cancelled', executor_no = NULL, token = NULL FROM lockstep.run r
    WHERE r.run_no = t.run_no AND t.queue_id = pg_temp.q() AND r.run_id = pg_temp.run_of(letter) AND t."order" = ord
$$;
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:300<200 B0:100<0');
SELECT is(pg_temp.offer(), 'none', 'a living owner opens what it has');
SELECT pg_temp.declared('A', 300);
SELECT is(pg_temp.offer(), 'none', 'and what comes behind it');
SELECT pg_temp.declared('A', 200);
SELECT is(pg_temp.offer(), 'none 0 200', 'nobody has the first one: who looks is to open it');
SELECT is(pg_temp.offer(ARRAY[(pg_temp.phase(200)).phase_id]), 'none', 'it does already; the next one has time');
SELECT pg_temp.declared('B', 100);
SELECT is(pg_temp.offer(ARRAY[(pg_temp.phase(200)).phase_id]), 'none',
          'not the first one of a run that waits for another');
SELECT pg_temp.tell(pg_temp.queue(runs => 'concurrent'), 'A0:100<0 A1:200<100 B0:100<0 B1:200<100');
SELECT pg_temp.declared('A', 200), pg_temp.declared('B', 200);
SELECT is(pg_temp.offer(), 'none 0 200', 'concurrent: one of each run,');
SELECT is(pg_temp.offer(ARRAY[(SELECT min(phase_id) FROM lockstep.phase
                               WHERE queue_id = pg_temp.q() AND "order" = 200)]),
          'none 1 200', 'one after the other');
SELECT lockstep.run_cancel(pg_temp.run_of('B'), NULL, (SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q()));
SELECT is(pg_temp.offer(ARRAY[(SELECT min(phase_id) FROM lockstep.phase
                               WHERE queue_id = pg_temp.q() AND "order" = 200)]),
          'none', 'none of a cancelled run');

-- What adopt asks of the tasks of a phase becomes a part of the query, so each way has its index.
CREATE FUNCTION pg_temp.explained(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    lines text := '';
BEGIN
    SET LOCAL enable_seqscan = off;
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        lines := lines || line || E'\n';
    END LOOP;
    SET LOCAL enable_seqscan = on;
    RETURN lines;
END
$$;
SELECT matches(pg_temp.explained(
    'SELECT FROM lockstep.task t WHERE t.phase_id + 0 = 1 AND t.executor_no IS NULL '
    'AND lockstep.adoptable(t, true, ''{}'', 1)'),
               '^(?!.*(adoptable|runnable)).*task_unowned', 'what nobody owns is found by its index');
SELECT matches(pg_temp.explained(
    'SELECT FROM lockstep.task t WHERE t.phase_id = 1 AND t.executor_no <> ALL (''{1}'') '
    'AND lockstep.adoptable(t, true, ''{}'', 1)'),
               '^(?!.*(adoptable|runnable)).*task_phase', 'what a dead executor has by that of its phase');

-- Owners.
SELECT pg_temp.tell('A0..2:100<0 A3..4:200<100');
SELECT is(pg_temp.adopt(), 'none', 'a living owner is left alone; nothing is due, so there is no time to wait for');

-- Returned.
SELECT is(lockstep.give_back(pg_temp.q(), ARRAY[(pg_temp.task(1)).task_id, (pg_temp.task(2)).task_id],
                             ARRAY[(pg_temp.task(1)).token, gen_random_uuid()]), 1::bigint,
          'who holds the token gives back, no other');
SELECT is((t.executor_no, t.token)::text, '(,)', 'the task has neither owner nor token') FROM pg_temp.task(1) AS t;
SELECT is(pg_temp.adopt(), '100: 1#1', 'it is adopted; nothing was tried, so it is still the first attempt');
SELECT is((t.executor_no, t.status, t.lost_num, t.max_attempts)::text, '(2,Pending,0,1)', 'the row is the adopter''s')
FROM pg_temp.task(1) AS t;
SELECT isnt((pg_temp.task(1)).token, NULL, 'with a token');
SELECT ok(NOT EXISTS (SELECT FROM lockstep.task_attempt WHERE task_id = (pg_temp.task(1)).task_id),
          'no attempt is noted');
SELECT is(pg_temp.adopt(), 'none', 'no second time');
SELECT lockstep.give_back(pg_temp.q(), ARRAY[(pg_temp.task(4)).task_id], ARRAY[(pg_temp.task(4)).token]);
SELECT is(pg_temp.adopt(), '200-: 4#1', 'of a phase that is not open, too; it says so');
UPDATE lockstep.task SET status = 'Processing' WHERE task_id = (pg_temp.task(4)).task_id;
SELECT is(lockstep.give_back(pg_temp.q(), ARRAY[(pg_temp.task(4)).task_id], ARRAY[(pg_temp.task(4)).token]),
          1::bigint, 'one that was shown as running is given back');
SELECT is((pg_temp.task(4)).status::text, 'Pending', 'and waits again');
SELECT is(pg_temp.adopt(), '200-: 4#1', 'and is adopted again');
SELECT pg_temp.complete(1);
SELECT is(lockstep.give_back(pg_temp.q(), ARRAY[(pg_temp.task(1)).task_id], ARRAY[NULL::uuid]), 0::bigint,
          'what is finished is not given back');

-- Failed, to be tried again.
UPDATE lockstep.task SET max_attempts = 3 WHERE queue_id = pg_temp.q();
UPDATE lockstep.queue SET retry_intervals = '{60}' WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.fail(0), 'Error', 'a failed attempt, another is due in a minute');
SELECT matches(pg_temp.adopt(), '^none (59\d\d\d|6000\d)$', 'not due: adopt says in how many milliseconds');
UPDATE lockstep.task SET scheduled_for = now() - interval '1 s' WHERE task_id = (pg_temp.task(0)).task_id;
SELECT is(pg_temp.adopt(), '100: 0#2', 'due: the second attempt');
SELECT is((t.status, t.lost_num, t.max_attempts)::text, '(Pending,0,3)', 'a failed attempt is not a lost one')
FROM pg_temp.task(0) AS t;
SELECT is(lockstep.give_back(pg_temp.q(), ARRAY[(pg_temp.task(0)).task_id], ARRAY[(pg_temp.task(0)).token]),
          1::bigint, 'given back before it started');
SELECT is(pg_temp.adopt(), '100: 0#2', 'it stays the second attempt');

-- The owner died.
UPDATE lockstep.task SET status = 'Processing', started_at = now() WHERE task_id = (pg_temp.task(2)).task_id;
CREATE TEMP TABLE zombie AS SELECT * FROM pg_temp.task(2) AS t;
SELECT is((SELECT count(*) FROM zombie z, lockstep.adopt_take(z.phase_id, 2, 10, false, true, '{}', '{}', 5)),
          0::bigint, 'not from an owner that has begun since the living were counted');
SELECT pg_temp.other('pg_advisory_unlock(lockstep.lock_class(%L), 1)', 'executor');
INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind) -- one that cannot be ended
SELECT 1, pid, backend_start, 'reader' FROM pg_stat_activity WHERE backend_type = 'checkpointer';
SELECT is(pg_temp.adopt(), 'none 20',
          'not while a session of it is still there; nobody tells when it is gone, so come again soon');
SELECT isnt((SELECT ended_at FROM lockstep.executor WHERE executor_no = 1), NULL, 'it is marked as dead all the same');
SELECT is(pg_temp.adopt(), 'none 20', 'and the next look is not the last one either');
-- The owner of the functions for operators does not see the start of a session.
UPDATE lockstep.executor SET ended_at = now() - interval '2 min' WHERE executor_no = 1;
SET LOCAL ROLE lockstep_owner;
SELECT lockstep.executors_living() @> '{1}' AS works \gset
RESET ROLE;
SELECT is(:'works', 't'::text, 'a cancel of an operator takes it for one that works, too');
SELECT is(pg_temp.adopt(), 'none 20', 'and executors still wait for the session');
DELETE FROM lockstep.executor_session;
SELECT is(pg_temp.adopt(), '100: 2#2', 'a running task of a dead executor: the oldest phase first, the next attempt');
SELECT is((t.status, t.lost_num, t.max_attempts, t.executor_no)::text, '(Pending,1,4,2)',
          'a lost attempt costs none of max_attempts')
FROM pg_temp.task(2) AS t;
SELECT is((SELECT (attempt, status, executor_no, started_at IS NOT NULL, error)::text FROM lockstep.task_attempt
           WHERE task_id = (SELECT task_id FROM zombie)),
          '(1,Pending,1,t,"lost: its executor died")', 'the lost attempt is noted');
SELECT throws_ok(format('SELECT lockstep.complete(%s, %L)', task_id, token), 'LS001', NULL,
                 'the zombie can not complete it')
FROM zombie;
SELECT throws_ok(format('SELECT lockstep.fail(%s, %L, false, 0, NULL, NULL, NULL, NULL, NULL)', task_id, token),
                 'LS001', NULL, 'nor fail it')
FROM zombie;
SELECT is(pg_temp.adopt(), '200-: 3#1',
          'then the next phase; nothing of it had begun, so it is the first attempt still');
SELECT is(pg_temp.adopt(), 'none', 'then nothing');
SELECT is((SELECT count(*) FROM lockstep.event_log WHERE event = 'executor_died' AND executor_no = 1), 1::bigint,
          'its death is noted once');

-- How many, and the other obstacles.
SELECT pg_temp.tell('A0..4:100<0');
SELECT is(pg_temp.adopt(2) || ', ' || pg_temp.adopt(2), '100: 0#1 1#1, 100: 2#1 3#1',
          'no more than asked for, the oldest first');
SELECT pg_temp.tell('A0:100<0');
SELECT is((SELECT (verdict, took_shared)::text
           FROM lockstep.adopt(pg_temp.q(), 2, 9, ARRAY[(pg_temp.phase(100)).phase_id])),
          '(adopted,f)',
          'a phase that the caller holds is not taken again');
SELECT pg_temp.tell('A0:100<0 A1:200<100');
SELECT pg_temp.fail(0, true);
SELECT is(pg_temp.adopt() || ' ' || pg_temp.statuses(), 'none Failed Cancelled',
          'what is finished or cancelled is nobody''s');

-- Another session holds rows of the phase: a later call takes them. A row of this transaction cannot be held by
-- another session: see tests/e2e/row_held.sh.
SELECT pg_temp.tell('A0..1:100<0');
SELECT is((SELECT count(*) FROM lockstep.adopt_take((pg_temp.phase(100)).phase_id, 2, 9, true, true, '{2}', '{}', 5)),
          2::bigint, 'where no task without an owner can be locked, those of a dead executor are taken');
SELECT lockstep.give_back(pg_temp.q(), ARRAY[(pg_temp.task(0)).task_id], ARRAY[(pg_temp.task(0)).token]);
UPDATE lockstep.task SET lost_num = 5, scheduled_for = now() - interval '1 s'
WHERE task_id = (pg_temp.task(0)).task_id;
SELECT is(pg_temp.adopt(), 'none 200', 'give_up could not lock the row of a task that it ends: the caller asks again');
UPDATE lockstep.task SET scheduled_for = NULL WHERE task_id = (pg_temp.task(0)).task_id;
SELECT is(pg_temp.adopt(), 'none 200', 'also when the task was never put off');

-- Names that an executor lacks: a producer that invents them does not make its row grow (action_leave.sql).
CREATE FUNCTION pg_temp.leave(number bigint, need text) RETURNS text LANGUAGE sql AS $$
    SELECT lockstep.action_leave(pg_temp.q(), 1, ARRAY[t.task_id], ARRAY[t.token], ARRAY[need], '{t}')
    FROM pg_temp.task(number) AS t;
    SELECT concat_ws(' ', cardinality(unable), unable[cardinality(unable)], (pg_temp.task(number)).needs)
    FROM lockstep.executor WHERE executor_no = 1
$$;
SELECT pg_temp.tell('A0..2:100<0');
UPDATE lockstep.executor SET unable = ARRAY(SELECT 'command:' || n FROM generate_series(1, 999) AS n)
WHERE executor_no = 1;
SELECT is(pg_temp.leave(0, 'command:a'), '1000 command:a {command:a}', 'the thousandth name');
SELECT is(pg_temp.leave(1, 'command:b'), '1001 more than 1000 names {command:b,"more than 1000 names"}',
          'the next ones have one name together');
SELECT is(pg_temp.leave(2, 'command:c'), '1001 more than 1000 names {command:c,"more than 1000 names"}',
          'and no more is noted');

SELECT * FROM finish();
ROLLBACK;
