-- The gate (sql/functions/gate/gate.sql): its verdicts, in the order in which it checks. protocol.inc explains how
-- messages are written.
BEGIN;
SELECT plan(57);
\ir protocol.inc

-- One slice at the gate of a run for its phase of this order: the verdict and the order of the phase it is about.
CREATE FUNCTION pg_temp.gate(ord bigint, letter text DEFAULT 'A') RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', g.verdict, p."order")
    FROM lockstep.gate((pg_temp.phase(ord, letter)).phase_id, 1) AS g LEFT JOIN lockstep.phase p USING (phase_id)
$$;
CREATE FUNCTION pg_temp.take_shared(ord bigint) RETURNS boolean LANGUAGE sql AS $$ -- another session has S
    SELECT pg_temp.other('pg_advisory_lock_shared(%s, %s)::text', lockstep.lock_class('phase')::text,
                         lockstep.phase_key((pg_temp.phase(ord)).phase_id, 0)::text)
$$;
CREATE FUNCTION pg_temp.intent(ord bigint) RETURNS boolean LANGUAGE sql AS $$ -- gives one IX back: was it held?
    SELECT lockstep.unlock_intent((pg_temp.phase(ord)).phase_id)
$$;

INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
VALUES (gen_random_uuid(), 'h', 1, 'v', 1, '{q}');
SELECT is((SELECT executor_no FROM lockstep.executor), 1, 'the claims here are those of executor 1');
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), 1)::text', 'executor');

SELECT pg_temp.tell('A0:100<0 A1:100<0 A2:200<100 A3:300<200 A4:400<300');
UPDATE lockstep.task SET max_attempts = 2;
SELECT pg_temp.take_shared(100);
SELECT is(pg_temp.gate(200), 'wait 200', 'somebody holds S of the phase before');
SELECT pg_temp.other('lockstep.unlock_shared(%s)', (pg_temp.phase(100)).phase_id::text);
SELECT is(pg_temp.gate(200), 'wait 200', 'nobody does, but a task of a living owner is unfinished');
SELECT is(pg_temp.gate(300), 'wait 200', 'who owns only later tasks gates for the oldest phase that is not open');
SELECT ok(NOT pg_temp.intent(100), 'not yet: IX is given back');
SELECT pg_temp.take_shared(200);
SELECT is(pg_temp.gate(300), 'wait 300',
          'but while somebody has S of the one before ours, what comes before that is his to open');
SELECT is(pg_temp.gate(400), 'wait 200', 'which does not count for who waits for a later one');
SELECT pg_temp.other('lockstep.unlock_shared(%s)', (pg_temp.phase(200)).phase_id::text);
SELECT is(pg_temp.gate(300), 'wait 200', 'he lets go of it undone: the oldest again');
SELECT ok(NOT pg_temp.intent(200), 'and no IX is kept');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.gate(200), 'wait 200', 'one of two tasks is done');
SELECT is(pg_temp.fail(1), 'Error', 'the other is to be tried again');
SELECT is(pg_temp.gate(200), 'due 200', 'it has no owner and is not due');
SELECT is((SELECT wait_ms BETWEEN 1 AND 1001 FROM lockstep.gate((pg_temp.phase(200)).phase_id, 1)), true,
          'wait_ms says when');
UPDATE lockstep.task SET scheduled_for = now() - interval '1 s' WHERE status = 'Error';
SELECT is(pg_temp.gate(200), 'orphans 200', 'it is due and has no owner');
UPDATE lockstep.queue SET paused = true WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.gate(200), 'paused 200', 'no executor adopts it while the queue is paused');
UPDATE lockstep.queue SET paused = false WHERE queue_id = pg_temp.q();
UPDATE lockstep.task SET executor_no = 1, status = 'Processing', token = gen_random_uuid() WHERE status = 'Error';
SELECT is(pg_temp.gate(200), 'wait 200', 'it runs');
SELECT pg_temp.other('pg_advisory_unlock(lockstep.lock_class(%L), 1)', 'executor');
SELECT is(pg_temp.gate(200), 'orphans 200', 'its owner died');
SELECT is((SELECT ended_why FROM lockstep.executor WHERE executor_no = 1), 'found dead', 'which is noted');
SELECT ok(NOT pg_temp.intent(100), 'no IX is kept');

SELECT pg_temp.complete(1);
UPDATE lockstep.queue SET paused = true WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.gate(200), 'paused 200', 'a paused queue opens nothing');
UPDATE lockstep.queue SET paused = false WHERE queue_id = pg_temp.q();
UPDATE lockstep.run SET status = 'Paused' WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.gate(200), 'paused 200', 'nor does a paused run');
SELECT ok(NOT pg_temp.intent(100), 'no IX is kept');
UPDATE lockstep.run SET status = 'Running' WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.gate(300), 'opened 200', 'the phase before is done: opened');
SELECT ok((p).opened_at IS NOT NULL AND (p).done_at IS NULL, 'the phase is open') FROM pg_temp.phase(200) AS p;
SELECT ok((p).done_at IS NOT NULL, 'the one before is done') FROM pg_temp.phase(100) AS p;
SELECT ok(pg_temp.intent(100) AND NOT pg_temp.intent(100), 'IX of the phase before is kept, once');
SELECT is(pg_temp.gate(200), 'open 200', 'opened already: only IX is taken');
SELECT ok(pg_temp.intent(100), 'and kept');
SELECT is(pg_temp.gate(300), 'orphans 300', 'the next one waits for this one');
SELECT lockstep.opened(ARRAY[(pg_temp.phase(200)).phase_id], 1);
SELECT is((SELECT string_agg(detail || ', ' || (at = (pg_temp.phase(200)).opened_at), '; ') FROM lockstep.event_log
           WHERE event = 'phase_opened' AND phase_id = (pg_temp.phase(200)).phase_id), 'order 200, true',
          'an opening is one line in the log, of that time');

-- A phase that a retry has closed again.
UPDATE lockstep.phase SET opened_at = NULL, done_at = NULL
WHERE phase_id IN ((pg_temp.phase(100)).phase_id, (pg_temp.phase(200)).phase_id);
SELECT is(pg_temp.gate(300), 'opened 100', 'a closed first phase is opened again, by whoever waits for a later one');
UPDATE lockstep.phase SET opened_at = NULL WHERE phase_id = (pg_temp.phase(100)).phase_id;
UPDATE lockstep.phase SET opened_at = now() WHERE phase_id = (pg_temp.phase(200)).phase_id;
SELECT pg_temp.complete(2);
SELECT is(pg_temp.gate(300), 'opened 100', 'nothing opens beyond a phase that is closed, though its tasks are done');
SELECT is(pg_temp.gate(300), 'opened 300', 'then the next that is not open');
SELECT is(pg_temp.gate(400), 'orphans 400', 'and the next is not');

-- Failure.
SELECT is(pg_temp.fail(3, true), 'Failed', 'a task of order 300 is finally failed, the policy is stop');
SELECT is(pg_temp.gate(400), 'gone 400', 'the next phase is cancelled');
SELECT is(pg_temp.gate(900), 'nothing', 'nothing is left to open');
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 A1:200<100');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.gate(200), 'opened 200', 'continue: a failed task is a finished one');
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'pause'), 'A0:100<0 A1:200<100');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.gate(200), 'paused 200', 'pause: an operator decides');

-- The short way: the executor that releases S opens the next phase, if no other one has S.
CREATE FUNCTION pg_temp.release(ord bigint, before bigint, next bigint) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', r.unlocked, r.verdict, p."order", b."order")
    FROM lockstep.release((pg_temp.phase(ord)).phase_id, true, true, (pg_temp.phase(before)).phase_id,
                          (pg_temp.phase(next)).phase_id)
        AS r
    LEFT JOIN lockstep.phase p USING (phase_id) LEFT JOIN lockstep.phase b ON b.phase_id = r.previous_phase_id
$$;
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:300<200 A3:400<300');
SELECT pg_temp.take_shared(100);
SELECT pg_temp.complete(0);
SELECT is(pg_temp.release(100, NULL, 200), 't wait 200 100', 'another one has S: its gate is to wait');
SELECT ok(NOT pg_temp.intent(100), 'no IX is kept');
SELECT pg_temp.other('lockstep.unlock_shared(%s)', (pg_temp.phase(100)).phase_id::text);
SELECT is(pg_temp.gate(200), 'opened 200', 'it opens');
SELECT pg_temp.complete(1);
SELECT is(pg_temp.release(200, 100, 300), 't opened 300 200', 'nobody has: opened in the same statement');
SELECT ok(NOT pg_temp.intent(100), 'IX of the phase before was given back');
SELECT ok(pg_temp.intent(200) AND NOT pg_temp.intent(200), 'and that of this one is kept, once');
SELECT is(pg_temp.release(300, NULL, 400), 't orphans 400 300',
          'a task of it is unfinished, and nobody lives who has it');
SELECT throws_ok(format('SELECT lockstep.release(%s, false, true, %s)', (pg_temp.phase(300)).phase_id,
                        (pg_temp.phase(100)).phase_id),
                 'P0001', NULL, 'IX that is not held is a bug that release tells');

-- The run before.
SELECT pg_temp.tell('A0:100<0 A1:end(1,1) B0:100<0 B1:200<100 B2:end(2,2) C0:100<0');
SELECT is(pg_temp.gate(100, 'B'), 'run 100', 'the run before has not ended');
SELECT is(pg_temp.gate(200, 'B'), 'run 100', 'also for who waits for a later phase');
SELECT is(pg_temp.gate(100, 'C'), 'run 100', 'nor for the third one');
UPDATE lockstep.run SET ended_at = now(), status = 'Cancelled' WHERE run_no = (pg_temp.run('B')).run_no;
SELECT is(pg_temp.gate(100, 'C'), 'run 100', 'the second is cancelled: the third still waits for the first');
UPDATE lockstep.run SET ended_at = NULL, status = 'Running' WHERE run_no = (pg_temp.run('B')).run_no;
SELECT pg_temp.complete(0);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Completed', 'the first ends');
SELECT is(pg_temp.gate(100, 'B'), 'opened 100', 'the second may start');
SELECT ok((r).started_at IS NOT NULL, 'and has started') FROM pg_temp.run('B') AS r;

-- An opening looks at as many rows behind 2,000 phases that are done as behind one, also when ANALYZE came when none
-- was done.
SELECT pg_temp.tell('A0:100<0 A1:200<100');
SELECT pg_temp.gate(100);
DELETE FROM lockstep.task;
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, previous_phase_id)
SELECT p.run_no, p.queue_id, n, n - 1, p.phase_id + n - 201
FROM generate_series(201, 2200) AS n, pg_temp.phase(200) AS p ORDER BY n;
ANALYZE lockstep.phase;
UPDATE lockstep.phase SET opened_at = now() WHERE "order" < 2100 AND queue_id = pg_temp.q();
UPDATE lockstep.phase SET done_at = now() WHERE "order" < 2099 AND queue_id = pg_temp.q();
CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'lockstep.phase'::regclass
$$;
CREATE TEMPORARY TABLE looked AS SELECT pg_temp.rows_read() AS before, '' AS verdict, 0::bigint AS after;
UPDATE looked
SET verdict = (SELECT verdict FROM lockstep.gate((SELECT phase_id FROM lockstep.phase WHERE "order" = 2100), 0));
UPDATE looked SET after = pg_temp.rows_read();
SELECT is((SELECT verdict FROM looked), 'opened', 'a phase behind 2,000 others opens');
SELECT cmp_ok((SELECT after - before FROM looked), '<', 30::bigint, 'and few rows are read for that');
UPDATE looked
SET before = pg_temp.rows_read(),
    verdict = (SELECT verdict || ' ' || (SELECT "order" FROM lockstep.phase p WHERE p.phase_id = g.phase_id)
    FROM lockstep.gate((SELECT phase_id FROM lockstep.phase WHERE "order" = 2110), 0) AS g);
SELECT is((SELECT verdict || CASE WHEN pg_temp.rows_read() - before < 120 THEN '' ELSE ', reads all' END FROM looked),
          'opened 2101', 'nor for who asks for a later one');

SELECT * FROM finish();
ROLLBACK;
