-- Retention (sql/functions/sweep/): the runs that are deleted, the rows that go with them and those that stay, the
-- locks that hold them up, and that nothing takes a deleted run up again. protocol.inc explains how messages are
-- written; each run here has ended.
BEGIN;
SELECT no_plan();
\ir protocol.inc
SET LOCAL lock_timeout = '2s'; -- nothing here may wait
SET LOCAL plan_cache_mode = force_custom_plan; -- as sql/sweep/begin.sql does

CREATE FUNCTION pg_temp.keep(newest int, days int, failed int) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.queue SET keep_runs = newest, keep_days = days, keep_failed_days = failed
    WHERE queue_id = pg_temp.q()
$$;
CREATE FUNCTION pg_temp.older(letters text, days int) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.run
    SET ended_at = ended_at - days * interval '1 day', created_at = created_at - days * interval '1 day'
    WHERE queue_id = pg_temp.q()
      AND run_id = ANY (ARRAY(SELECT pg_temp.run_of(l) FROM regexp_split_to_table(letters, '') AS l))
$$;
-- One sweep, in batches of so many rows; how many there were.
CREATE FUNCTION pg_temp.sweep(rows int DEFAULT 1000) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    s record;
    batches int := 0;
    at bigint := -1;
BEGIN
    LOOP
        SELECT * INTO s FROM lockstep.sweep(pg_temp.q(), rows, at);
        EXIT WHEN NOT s.more;
        at := s.at;
        batches := batches + 1;
        IF batches > 500 THEN RAISE EXCEPTION 'it has no end: %', s; END IF;
    END LOOP;
    RETURN batches;
END
$$;
-- Runs that have tasks; in lower case: only a part of them.
CREATE FUNCTION pg_temp.kept() RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(CASE WHEN swept THEN lower(l) ELSE l END, '' ORDER BY run_no), '')
    FROM (SELECT r.run_no, r.swept, chr(right(r.run_id::text, 12)::int) AS l FROM lockstep.run r
          WHERE r.queue_id = pg_temp.q()
            AND EXISTS (SELECT FROM lockstep.phase p JOIN lockstep.task t USING (phase_id) WHERE p.run_no = r.run_no))
        AS v
$$;
CREATE FUNCTION pg_temp.counts() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', status, tasks, completed, failed, cancelled, phases, rejected), ', '
                      ORDER BY run_no)
    FROM lockstep.run_status
    WHERE run_no IN (SELECT run_no FROM lockstep.run WHERE queue_id = pg_temp.q())
$$;
CREATE FUNCTION pg_temp.judge(mode text, letter text, ord bigint, number bigint, seq bigint)
RETURNS text LANGUAGE sql AS $$
    SELECT action || ' ' || why
    FROM lockstep.replay_judge(pg_temp.q(), mode, 'task', pg_temp.run_of(letter), ord, ARRAY[number], ARRAY[seq],
                               ARRAY['{"sql": "SELECT ' || number || '"}'], false)
$$;
CREATE FUNCTION pg_temp.refused(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE command;
    RETURN 'done';
EXCEPTION WHEN SQLSTATE 'LS002' OR SQLSTATE 'LS003' THEN
    RETURN regexp_replace(SQLERRM, '[0-9a-f]{8}-[0-9a-f-]*', 'R', 'g');
END
$$;
-- Five runs one after the other: A, C, E complete, B has a failed task, D was cancelled for one.
CREATE FUNCTION pg_temp.five() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    at bigint;
BEGIN
    PERFORM pg_temp.queue('concurrent');
    FOR i IN 0 .. 4 LOOP
        at := (SELECT next_offset FROM lockstep.queue WHERE queue_id = pg_temp.q());
        PERFORM pg_temp.tell(pg_temp.q(), replace('X0:1<0 X1:1<0 X2:2<1 X3:end(3,2)', 'X', chr(65 + i)));
        PERFORM pg_temp.complete(at);
        IF i IN (1, 3) THEN
            PERFORM pg_temp.fail(at + 1, true);
        ELSE
            PERFORM pg_temp.complete(at + 1);
            UPDATE lockstep.task SET token = gen_random_uuid(), executor_no = 1
            WHERE task_id = (pg_temp.task(at + 2)).task_id;
            PERFORM pg_temp.complete(at + 2);
        END IF;
        PERFORM lockstep.run_finish((pg_temp.run(chr(65 + i))).run_no);
    END LOOP;
    DELETE FROM lockstep.outbox;
    RETURN pg_temp.kept();
END
$$;

-- By number, by age: a run stays as long as one rule keeps it.
SELECT is(pg_temp.five(), 'ABCDE', 'five runs');
SELECT is((SELECT string_agg(status, ' ' ORDER BY run_no) FROM lockstep.run WHERE queue_id = pg_temp.q()),
          'Completed Failed Completed Failed Completed', 'two have failed');
CREATE TEMP TABLE before AS SELECT pg_temp.counts() AS counts;
SELECT is(pg_temp.sweep(), 0, 'no rule: everything is kept');
SELECT pg_temp.older('ABCD', 10);
SELECT pg_temp.keep(5, NULL, NULL);
SELECT is(pg_temp.sweep(), 0, 'as many as are kept');
SELECT pg_temp.keep(NULL, 11, NULL);
SELECT is(pg_temp.sweep(), 0, 'younger than what is kept');
SELECT pg_temp.keep(NULL, NULL, 11);
SELECT is(pg_temp.sweep(), 0, 'with a term for failed ones only, the others are kept');
SELECT pg_temp.keep(3, 11, NULL);
SELECT is(pg_temp.sweep(), 0, 'the days keep what the number does not');
SELECT pg_temp.keep(4, 9, NULL);
SELECT isnt(pg_temp.sweep(), 0, 'neither keeps the first one');
SELECT is(pg_temp.kept(), 'BCDE', 'it is gone');
SELECT pg_temp.keep(1, 9, 11);
SELECT pg_temp.sweep();
SELECT is(pg_temp.kept(), 'BDE', 'what has failed is kept longer');
SELECT pg_temp.keep(NULL, NULL, 9);
SELECT pg_temp.sweep();
SELECT is(pg_temp.kept(), 'E', 'and goes, too');
SELECT is(pg_temp.counts(), (SELECT counts FROM before), 'what they did is still told');
SELECT is((SELECT count(*) FROM lockstep.run r WHERE r.queue_id = pg_temp.q() AND r.swept
           AND (EXISTS (SELECT FROM lockstep.phase p WHERE p.run_no = r.run_no)
                OR EXISTS (SELECT FROM lockstep.event_log l WHERE l.run_no = r.run_no))),
          0::bigint,
          'no phase and no event of them is left');
SELECT is((SELECT count(*) FROM lockstep.task_attempt a
           WHERE NOT EXISTS (SELECT FROM lockstep.task t WHERE t.task_id = a.task_id)),
          0::bigint, 'nor an attempt');
SELECT is((SELECT string_agg(concat_ws(' ', s.tasks, s.completed, s.failed, s.cancelled, s.attempts), ', '
                             ORDER BY s.run_no)
           FROM lockstep.run_summary s),
          '3 3 0 0 0, 3 1 1 1 1, 3 3 0 0 0, 3 1 1 1 1', 'the sums');
SELECT ok(bool_and(s.swept_at >= s.begun_at AND s.busy > '0'), 'when, and how long they took')
FROM lockstep.run_summary s;

-- In batches of any size, and an interrupted sweep continues.
SELECT pg_temp.five();
DELETE FROM before;
INSERT INTO before SELECT pg_temp.counts();
SELECT pg_temp.older('ABCDE', 10);
SELECT pg_temp.keep(NULL, 1, NULL);
SELECT is((SELECT deleted FROM lockstep.sweep(pg_temp.q(), 2, -1)), 2::bigint, 'a batch is as large as it is said');
SELECT is(pg_temp.kept(), 'aBCDE', 'the first run is half deleted');
SELECT is(pg_temp.counts(), (SELECT counts FROM before), 'and told as it was');
SELECT is(pg_temp.tell(pg_temp.q(), 'A0:1<0'), 'duplicate',
          'a message of it that comes again meanwhile is a duplicate');
SELECT is(pg_temp.judge('missing', 'A', 1, 0, 0), 'skip retention',
          'a replay does not take what is deleted for missing');
SELECT is(pg_temp.judge('all', 'A', 1, 0, 0), 'skip retention', 'nor runs it again');
SELECT is(pg_temp.judge('all', 'A', 2, 2, 2), 'skip retention', 'nor the half that is there');
SELECT is(pg_temp.judge('failed', 'B', 1, 5, 1), 'reopen failed', 'another run it takes');
SELECT is(pg_temp.refused(format(
    'SELECT lockstep.run_retry(%L, NULL, (SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q()))',
    pg_temp.run_of('A'))),
          'the tasks of run R were deleted: its queue does not keep them any longer', 'it is not retried');
SELECT matches(pg_temp.refused(format('SELECT lockstep.task_complete(%s)', (pg_temp.task(2)).task_id)),
               '^task \d+: it is being deleted: its queue does not keep its run any longer$',
               'what is left of it is not changed');
SELECT matches(pg_temp.refused(format('SELECT lockstep.task_retry(%s)', (pg_temp.task(2)).task_id)),
               'it is being deleted', 'nor retried');
SELECT throws_like(format('SELECT lockstep.reopen(%s, NULL, %L)', (pg_temp.phase(2)).phase_id, 'a test'),
                   '%were deleted%', 'nor reopened');
SELECT cmp_ok(pg_temp.sweep(1), '>', 15, 'one row at a time');
SELECT is(pg_temp.kept(), '', 'all are gone');
SELECT is(pg_temp.counts(), (SELECT counts FROM before), 'with their sums');
SELECT is(pg_temp.judge('missing', 'A', 1, 0, 0) || ', ' || pg_temp.judge('failed', 'B', 1, 5, 1) || ', ' ||
          pg_temp.judge('all', 'E', 2, 18, 2),
          'skip retention, skip retention, skip retention', 'and no replay takes them up');
SELECT is((SELECT count(*) FROM lockstep.rejected_message WHERE queue_id = pg_temp.q()), 1::bigint,
          'the duplicate is not sent yet: it stays');
SELECT is(pg_temp.tell(pg_temp.q(), 'A1:1<0'), 'duplicate', 'a message that comes again is a duplicate, as before');
DELETE FROM lockstep.outbox;
UPDATE lockstep.rejected_message SET rejected_at = rejected_at - interval '2 days'
WHERE queue_id = pg_temp.q() AND seq = 0;
SELECT cmp_ok(lockstep.sweep_rest(pg_temp.q(), 100), '>=', 2::bigint, 'it goes by its age');
SELECT is((SELECT string_agg(seq::text, ' ') FROM lockstep.rejected_message WHERE queue_id = pg_temp.q()), '1',
          'the younger one stays');

-- Runs that have not ended stay, under any setting.
SELECT pg_temp.queue('concurrent', 'pause');
SELECT pg_temp.tell(pg_temp.q(), 'A0:1<0 A1:end(1,1) B0:1<0 C0:1<0 C1:end(1,1)');
SELECT pg_temp.complete(0);
SELECT lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT pg_temp.fail(3, true);
SELECT is((pg_temp.run('C')).status, 'Paused', 'one waits for an operator');
DELETE FROM lockstep.outbox;
SELECT pg_temp.older('ABC', 10);
SELECT pg_temp.keep(NULL, 1, NULL);
INSERT INTO lockstep.replay (queue_id, mode, from_offset, to_offset, cursor, reason)
VALUES (pg_temp.q(), 'all', 0, 4, 0, 'r');
UPDATE lockstep.run SET replay_id = (SELECT max(replay_id) FROM lockstep.replay)
WHERE run_no = (pg_temp.run('A')).run_no;
SELECT is(pg_temp.sweep(), 0, 'one that a replay goes over, one that runs, one that is paused');
UPDATE lockstep.run SET replay_id = NULL WHERE run_no = (pg_temp.run('A')).run_no;
UPDATE lockstep.queue SET halted_reason = 'other_server' WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.sweep(), 0, 'and nothing of a queue that is halted');
UPDATE lockstep.queue SET halted_reason = NULL WHERE queue_id = pg_temp.q();
INSERT INTO lockstep.outbox (queue_id, kind, event, run_no)
VALUES (pg_temp.q(), 'events', 'run_ended', (pg_temp.run('A')).run_no);
SELECT is(pg_temp.sweep(), 0, 'nor a run whose events are not sent');
DELETE FROM lockstep.outbox;
SELECT pg_temp.sweep();
SELECT is(pg_temp.kept(), 'BC', 'then it goes, and only it');

-- Keys: that of a task that was done is taken for ever; that of another goes with it.
SELECT pg_temp.five();
UPDATE lockstep.task SET key = 'k' || kafka_offset WHERE queue_id = pg_temp.q();
INSERT INTO lockstep.idempotency_key (queue_id, key, task_id, run_id, kafka_offset)
SELECT t.queue_id, t.key, t.task_id, r.run_id, t.kafka_offset FROM lockstep.task t JOIN lockstep.run r USING (run_no)
WHERE t.queue_id = pg_temp.q();
-- Another has taken it meanwhile.
UPDATE lockstep.idempotency_key SET task_id = 0 WHERE queue_id = pg_temp.q() AND key = 'k13';
SELECT pg_temp.older('AB', 10);
SELECT pg_temp.older('D', 10);
SELECT pg_temp.keep(NULL, 1, NULL);
SELECT pg_temp.sweep(2);
SELECT is((SELECT string_agg(t.key, ' ' ORDER BY t.kafka_offset) FROM lockstep.idempotency_key t
           WHERE queue_id = pg_temp.q()),
          'k0 k1 k2 k4 k8 k9 k10 k12 k13 k16 k17 k18', 'k5, k6 and k14 were not done and are free');

-- Rejected messages of a run go with it, those of none by age; not before what is to be sent of them is sent.
SELECT pg_temp.queue();
SELECT pg_temp.tell(pg_temp.q(), '! A0:1<0 A1:! A1:1<0 A2:end(1,1) ! !');
SELECT is((SELECT string_agg(kafka_offset || CASE WHEN run_no IS NULL THEN '' ELSE 'A' END, ' ' ORDER BY kafka_offset)
           FROM lockstep.rejected_message WHERE queue_id = pg_temp.q()),
          '0 2A 3A 5 6', 'rejected');
SELECT is((SELECT count(*) FROM lockstep.outbox WHERE queue_id = pg_temp.q() AND kind = 'rejected'), 5::bigint,
          'their dead letters are not written');
SELECT pg_temp.complete(1);
SELECT lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT is((pg_temp.run('A')).ended_at IS NOT NULL, true, 'the run has ended');
UPDATE lockstep.rejected_message SET rejected_at = rejected_at - interval '10 days'
WHERE queue_id = pg_temp.q() AND kafka_offset < 6;
SELECT pg_temp.older('A', 10);
SELECT pg_temp.keep(NULL, 1, NULL);
SELECT is(pg_temp.sweep() || ' ' || lockstep.sweep_rest(pg_temp.q(), 100), '0 0', 'nothing goes before that');
DELETE FROM lockstep.outbox WHERE queue_id = pg_temp.q();
UPDATE lockstep.rejected_message SET redrive_noted = gen_random_uuid()
WHERE queue_id = pg_temp.q() AND kafka_offset IN (0, 2);
SELECT is(pg_temp.sweep() || ' ' || lockstep.sweep_rest(pg_temp.q(), 100), '0 0',
          'nor while one is redriven; as long as the run is there, nothing that came after it began');
-- on the topic; its command was killed before it noted that
UPDATE lockstep.rejected_message SET redrive_noted = (pg_temp.run('A')).run_id
WHERE queue_id = pg_temp.q() AND kafka_offset = 2;
SELECT pg_temp.sweep();
SELECT is((SELECT string_agg(kafka_offset::text, ' ' ORDER BY kafka_offset) FROM lockstep.rejected_message
           WHERE queue_id = pg_temp.q()),
          '0 5 6', 'those of the run go with it');
SELECT cmp_ok(lockstep.sweep_rest(pg_temp.q(), 100), '>', 0::bigint, 'those of no run by age');
SELECT is((SELECT string_agg(kafka_offset::text, ' ' ORDER BY kafka_offset) FROM lockstep.rejected_message
           WHERE queue_id = pg_temp.q()),
          '0 6', 'but one that is redriven, and a young one');
SELECT is((SELECT string_agg(o || ':' || action || ' ' || why, ', ' ORDER BY o) FROM unnest('{1,2,5,6}'::bigint[]) AS o,
               lockstep.replay_judge(pg_temp.q(), 'missing', 'reject', NULL, NULL, ARRAY[o], '{NULL}', '{NULL}',
                                     false)),
          '1:make missing, 2:skip retention, 5:skip retention, 6:skip rejected',
          'a replay does not reject again what was deleted');

-- What another table refers to keeps its run, also from the middle of it; the next ones go.
SELECT pg_temp.five();
SELECT pg_temp.older('ABCDE', 10);
SELECT pg_temp.keep(NULL, 1, NULL);
CREATE TABLE theirs (task_id bigint REFERENCES lockstep.task);
CREATE TABLE also (task_id bigint REFERENCES lockstep.task ON DELETE CASCADE);
INSERT INTO theirs VALUES ((pg_temp.task(0)).task_id), ((pg_temp.task(10)).task_id);
INSERT INTO also VALUES ((pg_temp.task(0)).task_id), ((pg_temp.task(4)).task_id);
SELECT matches((SELECT held FROM lockstep.sweep(pg_temp.q(), 2, -1)),
    '^run .*: update or delete on table "task" violates foreign key constraint .* on table "theirs"$', 'it is told');
SELECT is(pg_temp.kept(), 'ABCDE', 'the run is as it was');
SELECT pg_temp.sweep(2);
SELECT is(pg_temp.kept(), 'Ac', 'the others go: one has a part that stays');
SELECT is((SELECT count(*) FROM also), 1::bigint, 'ON DELETE CASCADE goes with its task');
SELECT is(pg_temp.sweep(2), 0, 'they are not tried again at once');
UPDATE lockstep.run_summary SET look_at = clock_timestamp() WHERE held IS NOT NULL;
SELECT is((SELECT held FROM lockstep.sweep(pg_temp.q(), 2, -1)), NULL, 'nor told again');
DELETE FROM theirs;
UPDATE lockstep.run_summary SET look_at = clock_timestamp() WHERE held IS NOT NULL;
SELECT pg_temp.sweep(2);
SELECT is(pg_temp.kept() || (SELECT count(*) FROM lockstep.run_summary WHERE held IS NOT NULL), '0', 'later they go');

-- A run of which even a single row takes too long: an index is missing on a table that refers to its tasks.
SELECT pg_temp.five(), pg_temp.older('ABCDE', 10), pg_temp.keep(NULL, 1, NULL);
CREATE TABLE slow AS SELECT (pg_temp.task(0)).task_id;
CREATE FUNCTION takes_long() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(30) WHERE EXISTS (SELECT FROM slow s WHERE s.task_id = OLD.task_id);
    RETURN OLD;
END
$$;
CREATE TRIGGER takes_long BEFORE DELETE ON lockstep.task FOR EACH ROW EXECUTE FUNCTION takes_long();
CREATE FUNCTION pg_temp.tried(rows int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT s.held FROM lockstep.sweep(pg_temp.q(), rows, -1) AS s);
EXCEPTION
    WHEN query_canceled THEN RETURN 'it is given up';
END
$$;
SET LOCAL statement_timeout = '300ms'; -- of sql/sweep/begin.sql: 3 s
SELECT is(pg_temp.tried(2), 'it is given up', 'a batch that takes too long is to be tried with fewer rows');
SELECT matches(pg_temp.tried(1), '^run .*: canceling statement', 'when it has a single row, the run is held');
SET LOCAL statement_timeout = 0;
SELECT is((SELECT s.look_at - clock_timestamp() > interval '59 min'
           FROM lockstep.run_summary s WHERE s.held ~ '^canceling'), true, 'for an hour');
SELECT pg_temp.sweep();
SELECT is(pg_temp.kept(), 'A', 'and those behind it go');
TRUNCATE slow;
UPDATE lockstep.run_summary SET look_at = clock_timestamp() WHERE held IS NOT NULL;
SELECT pg_temp.sweep();
SELECT is(pg_temp.kept(), '', 'later it does, too');
DROP TRIGGER takes_long ON lockstep.task;

-- A run that an operator has cancelled, whose other messages come when it is deleted: they are counted, and the queue
-- continues. Between the two messages one is missing.
SELECT pg_temp.queue();
SELECT pg_temp.tell(pg_temp.q(), 'A0:1<0');
SELECT pg_temp.complete(0);
SELECT lockstep.run_cancel(pg_temp.run_of('A'), NULL, (SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q()));
SELECT pg_temp.keep(NULL, 1, NULL);
SELECT pg_temp.older('A', 10);
SELECT pg_temp.sweep();
SELECT is((SELECT count(*) FROM lockstep.phase WHERE queue_id = pg_temp.q()), 0::bigint, 'its phase is deleted');
SELECT pg_temp.tell(pg_temp.q(), 'A2:1<0 B0:1<0');
SELECT is((SELECT next_offset FROM lockstep.queue WHERE queue_id = pg_temp.q()), 3::bigint,
          'its next message does not stop the queue');
SELECT is(pg_temp.tell(pg_temp.q(), 'A3..4:1<0 A5:2<1 A6:3<1 A7:end(6,2)'), '[moved] [moved] hole ended=Cancelled',
          'others follow, one of them with wrong tags, and its end');
SELECT is(pg_temp.counts(), 'Cancelled 5 1 1 4 2 1, Running 1 0 0 0 1 0', 'the sums have them');
SELECT is((SELECT count(*) FROM lockstep.task WHERE queue_id = pg_temp.q()), 1::bigint,
          'no task is made that retention would not find');
-- The same with messages that name no run.
SELECT pg_temp.queue();
SELECT pg_temp.tell(pg_temp.q(), '1<0');
SELECT pg_temp.complete(0);
SELECT lockstep.run_cancel(r.run_id, NULL, (SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q()))
FROM lockstep.run r WHERE r.queue_id = pg_temp.q();
SELECT pg_temp.keep(NULL, 1, NULL);
UPDATE lockstep.run SET ended_at = ended_at - interval '10 days' WHERE queue_id = pg_temp.q();
SELECT pg_temp.sweep();
SELECT pg_temp.tell(pg_temp.q(), '1<0 B0:1<0');
SELECT is((SELECT next_offset FROM lockstep.queue WHERE queue_id = pg_temp.q()), 3::bigint,
          'nor does one that continues an implicit run');
SELECT is(pg_temp.counts(), 'Cancelled 2 1 0 1 1 0, Running 1 0 0 0 1 0', 'which the sums have, too');
SELECT is((SELECT action || ' ' || why
           FROM lockstep.replay_judge(pg_temp.q(), 'missing', 'task', NULL, 1, '{1}', '{NULL}', '{"{}"}', true)),
          'skip retention', 'no replay makes it');
SELECT is(pg_temp.tell(pg_temp.q(), '2<0'), 'i2:2-', 'another one begins the next run');
-- A run whose first message comes when the run is cancelled and deleted already.
SELECT pg_temp.queue();
INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status)
SELECT pg_temp.run_of('A'), pg_temp.q(), 'A', 'stop', 'Publishing';
SELECT lockstep.run_cancel(pg_temp.run_of('A'), NULL, (SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q()));
SELECT pg_temp.keep(NULL, 1, NULL);
UPDATE lockstep.run SET ended_at = ended_at - interval '10 days' WHERE queue_id = pg_temp.q();
SELECT pg_temp.sweep();
SELECT is((pg_temp.run('A')).swept, true, 'a run of which nothing came is deleted');
SELECT is(pg_temp.tell(pg_temp.q(), 'A0:1<0 A1:2<1'), 'A:1~ A:2~', 'its messages are cancelled');
SELECT pg_temp.sweep();
SELECT is((SELECT count(*) FROM lockstep.task WHERE queue_id = pg_temp.q()), 0::bigint, 'and deleted');
SELECT is(pg_temp.counts(), 'Cancelled 2 0 0 2 2 0', 'the sums have them');
SELECT is(pg_temp.judge('missing', 'A', 2, 1, 7), 'skip retention', 'no replay makes a message of it');

-- What an operator is cancelling, no replay runs again.
SELECT pg_temp.queue();
SELECT pg_temp.tell(pg_temp.q(), 'A0..1:1<0');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.judge('all', 'A', 1, 0, 0), 'reopen done', 'a replay runs a task again');
UPDATE lockstep.run SET replay_id = (SELECT max(replay_id) FROM lockstep.replay) -- so it does not end at once
WHERE queue_id = pg_temp.q();
SELECT lockstep.run_cancel(pg_temp.run_of('A'), NULL, (SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q()));
SELECT is(pg_temp.judge('all', 'A', 1, 0, 0), 'skip done', 'but not while its run is being cancelled');
SELECT pg_temp.queue(on_failure => 'continue');
SELECT pg_temp.tell(pg_temp.q(), 'A0..1:1<0 A2:end(2,1) B0..1:1<0 B2:end(2,1)');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.judge('failed', 'A', 1, 0, 0), 'reopen failed', 'a replay of what failed runs a failed task again');
SELECT lockstep.run_cancel(pg_temp.run_of('A'), NULL, (SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q()));
SELECT is((pg_temp.run('A')).status || ' ' || pg_temp.judge('failed', 'A', 1, 0, 0) || ', ' ||
          pg_temp.judge('all', 'A', 1, 0, 0),
          'Cancelled skip failed, reopen failed',
          'but not of a run that an operator has cancelled: that takes a replay of all');
SELECT pg_temp.fail(3), pg_temp.complete(4);
SELECT lockstep.run_cancel(pg_temp.run_of('B'), NULL, (SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q()));
SELECT is((SELECT r.status || ' ' || (r.cancelled_at IS NOT NULL) FROM pg_temp.run('B') AS r) || ' ' ||
          pg_temp.judge('failed', 'B', 1, 3, 0),
          'PartiallyCompleted true reopen failed', 'a run that was done before its cancellation is none of these');

-- A batch reads what it deletes and nothing else: a run of many phases beside many others, no statistics.
SELECT pg_temp.queue('concurrent');
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, ended_at, tasks)
SELECT gen_random_uuid(), pg_temp.q(), 'stop', 'Completed', clock_timestamp() - interval '9 days', 500
FROM generate_series(1, 40);
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, done_at)
SELECT r.run_no, r.queue_id, n, n - 1, clock_timestamp() FROM lockstep.run r, generate_series(1, 50) AS n
WHERE r.queue_id = pg_temp.q();
INSERT INTO lockstep.task (phase_id, run_no, queue_id, status, "order", kafka_offset, payload)
SELECT p.phase_id, p.run_no, p.queue_id, 'Completed', p."order", row_number() OVER (ORDER BY p.run_no, p."order"), '{}'
FROM lockstep.phase p, generate_series(1, 10) WHERE p.queue_id = pg_temp.q();
SELECT pg_temp.keep(NULL, 1, NULL);
-- By sequential scans.
CREATE FUNCTION pg_temp.reads()
RETURNS bigint LANGUAGE sql AS $$ SELECT pg_stat_get_xact_tuples_returned('lockstep.task'::regclass) $$;
CREATE TEMP TABLE scans AS SELECT pg_temp.reads() AS n;
SELECT cmp_ok(pg_temp.sweep(100), '>=', 200, '20,000 tasks in batches of 100');
SELECT cmp_ok(pg_temp.reads() - (SELECT n FROM scans), '<', 1000::bigint, 'no table scan');
SELECT is(pg_temp.kept(), '', 'all of them');
SELECT * FROM finish();
ROLLBACK;
