-- The life of a task: how often it is tried and for which errors, not_before, conditions, keys
-- (docs/reference/states.md). protocol.inc explains how messages are written.
BEGIN;
SELECT no_plan();
\ir protocol.inc

-- special: messages of run A from the queue's cursor on, one segment; more: the fields of each but order and sql.
CREATE FUNCTION pg_temp.special(seq bigint, ord bigint, previous bigint, VARIADIC more json[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    at bigint := (SELECT next_offset FROM lockstep.queue WHERE queue_id = pg_temp.q());
    offsets bigint[] := ARRAY(SELECT at + n - 1 FROM generate_series(1, cardinality(more)) AS n);
    said record;
BEGIN
    INSERT INTO said (queue_id, verdict, next_offset, phase_id, run_no, is_open, took_shared, task_ids, tokens, note)
    SELECT pg_temp.q(), c.*
    FROM lockstep.claim(pg_temp.q(), 1, 0,
        ROW('task', pg_temp.run_of(coalesce(nullif(current_setting('lockstep.run_letter', true), ''), 'A')), NULL,
            ord, previous, offsets,
        ARRAY(SELECT seq + n - 1 FROM generate_series(1, cardinality(more)) AS n),
        ARRAY(SELECT (jsonb_build_object('order', ord, 'sql', 'SELECT 1') || m::jsonb)::text FROM unnest(more) AS m),
        ARRAY(SELECT 'name ' || o FROM unnest(offsets) AS o), array_fill(NULL::int, ARRAY[cardinality(more)]),
        array_fill(NULL::text, ARRAY[cardinality(more)]), 1000, '\xd1',
        NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, false, true)::lockstep.segment,
        ARRAY(SELECT DISTINCT s.phase_id FROM said s WHERE s.phase_id IS NOT NULL)) AS c
    RETURNING * INTO said;
    RETURN said.verdict || CASE WHEN said.is_open THEN '+' ELSE '-' END || ' '
           || (SELECT string_agg(CASE WHEN k IS NULL THEN 'nobody' ELSE 'ours' END, ' ' ORDER BY n)
               FROM unnest(said.tokens) WITH ORDINALITY AS u (k, n));
END
$$;
-- What an executor would get that looks for work: offsets, or the verdict and, with !, that it is to open a phase.
CREATE FUNCTION pg_temp.adopt() RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN min(a.verdict) = 'adopted' THEN string_agg(a.kafka_offset::text, ' ' ORDER BY a.kafka_offset)
                ELSE min(a.verdict) || CASE WHEN min(a.wait_ms) IS NOT NULL THEN ' later' ELSE '' END ||
                CASE WHEN min(a.phase_id) IS NOT NULL THEN ' !' ELSE '' END END
    FROM lockstep.adopt(pg_temp.q(), 2, 10,
                        ARRAY(SELECT DISTINCT s.phase_id FROM said s WHERE s.phase_id IS NOT NULL))
        AS a
$$;
CREATE FUNCTION pg_temp.gate(ord bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    g record;
BEGIN
    PERFORM lockstep.unlock_shared(s.phase_id) FROM said s WHERE s.took_shared;
    UPDATE said SET took_shared = false;
    SELECT * INTO g FROM lockstep.gate((pg_temp.phase(ord)).phase_id, 100);
    IF g.verdict IN ('opened', 'open') AND g.previous_phase_id IS NOT NULL THEN
        PERFORM lockstep.unlock_intent(g.previous_phase_id);
    END IF;
    RETURN g.verdict || CASE WHEN g.conditional THEN ' conditional' ELSE '' END;
END
$$;
CREATE FUNCTION pg_temp.qname()
RETURNS text LANGUAGE sql AS $$ SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q() $$;
INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
SELECT gen_random_uuid(), 'h', 1, 'v', 1, '{q}' FROM generate_series(1, 2);
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), 1)::text', 'executor');
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), 2)::text', 'executor');

-- How often: the message, else the queue, else the setting of the executors, else 3.
SELECT pg_temp.queue();
UPDATE lockstep.queue SET max_attempts = NULL WHERE queue_id = pg_temp.q();
SELECT pg_temp.special(0, 100, 0, '{}');
SELECT is((pg_temp.task(0)).max_attempts, 3, 'attempts: nobody says, so three');
UPDATE lockstep.queue SET default_attempts = 5 WHERE queue_id = pg_temp.q();
SELECT pg_temp.special(1, 100, 0, '{}');
SELECT is((pg_temp.task(1)).max_attempts, 5, 'the setting of its executors');
UPDATE lockstep.queue SET max_attempts = 7 WHERE queue_id = pg_temp.q();
SELECT pg_temp.special(2, 100, 0, '{}');
SELECT is((pg_temp.task(2)).max_attempts, 7, 'the queue comes before it');
SELECT is((SELECT column_default FROM information_schema.columns
           WHERE table_schema = 'lockstep' AND table_name = 'queue' AND column_name = 'max_attempts'),
          NULL, 'a new queue says nothing');

-- Which errors.
SELECT is(lockstep.retries(e, (SELECT retry_on FROM lockstep.queue WHERE queue_id = pg_temp.q())), again,
          'by default ' || coalesce(e, 'an error without a SQLSTATE') ||
          CASE WHEN again THEN ' is' ELSE ' is not' END || ' tried again')
FROM (VALUES ('42601', false), ('42P01', false), ('42501', false), ('0A000', false), ('3F000', false),
             ('22012', true), ('23505', true), ('40001', true), ('P0001', true), (NULL, true))
    AS c (e, again);
SELECT is(lockstep.retries('40001', '{40}'), true, 'a class');
SELECT is(lockstep.retries('22012', '{40}'), false, 'what is not listed is not');
SELECT is(lockstep.retries('40001', '{-40001,40}'), false, 'the code comes before its class');
SELECT is(lockstep.retries('40P01', '{-40001,40}'), true, 'the others of the class');
SELECT is(lockstep.retries('42P01', '{42P01,-42,all}'), true, 'wherever it stands');
SELECT throws_ok(format('UPDATE lockstep.queue SET retry_on = %L WHERE queue_id = %s', bad, pg_temp.q()), '23514',
                 NULL, 'no list: ' || bad)
FROM unnest('{"{}","{4}","{420}","{42p01}","{NULL}","{--42}","{every}"}'::text[]) AS bad;
CREATE FUNCTION pg_temp.fails(number bigint, state text) RETURNS text LANGUAGE sql AS $$
    SELECT lockstep.fail((t).task_id, (t).token, false, 1000, state, 'it broke', NULL, NULL, NULL)
    FROM pg_temp.task(number) AS t
$$;
SELECT is(pg_temp.fails(0, '42P01'), 'Failed', 'at once, though it has attempts left');
SELECT is(((t).status, (t).attempt_num, (t).error)::text, '(Failed,1,"42P01: it broke")', 'and the row says why')
FROM pg_temp.task(0) AS t;
SELECT is(pg_temp.fails(1, '22012'), 'Error', 'another error has another attempt');
SELECT pg_temp.tell('A0:100<0');
UPDATE lockstep.queue SET max_attempts = 4, retry_on = '{40}' WHERE queue_id = pg_temp.q();
SELECT pg_temp.special(1, 100, 0, '{}', '{"retry_on": ["42"]}');
SELECT is(pg_temp.fails(1, '22012'), 'Failed', 'the queue''s list');
SELECT is(pg_temp.fails(2, '42601'), 'Error', 'the message''s comes before it');

-- The server's fault is not the task's.
SELECT is(lockstep.server_fault(e), ours, e || CASE WHEN ours THEN ' is' ELSE ' is not' END || ' the server''s fault')
FROM (VALUES ('53100', true), ('53200', true), ('53300', true), ('58030', true), ('25006', false), ('53400', false),
             ('58P01', false), ('57014', false), ('22012', false))
    AS c (e, ours);
SELECT is(lockstep.server_fault(NULL), false, 'what has no SQLSTATE is not');
SELECT pg_temp.tell('A0:100<0 A1:100<0');
UPDATE lockstep.queue SET max_lost = 3 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.fails(0, '53100'), 'Error', 'its only attempt, and it is put off');
SELECT is(((t).status, (t).attempt_num, (t).lost_num, (t).max_attempts, (t).executor_no,
           round(extract(epoch FROM (t).scheduled_for - (t).updated_at)))::text,
          '(Error,1,0,2,,1)', 'for a second; neither failed nor lost')
FROM pg_temp.task(0) AS t;
SELECT is((SELECT (status, sqlstate, error)::text FROM lockstep.task_attempt
           WHERE task_id = (pg_temp.task(0)).task_id),
          '(Pending,53100,"it broke")', 'the attempt says why it was lost');
SELECT is(((r).stop_after, (r).error)::text, '(,)', 'nothing has failed') FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.adopt(), 'none later', 'it is not taken before that');
UPDATE lockstep.task SET scheduled_for = now() - interval '1 s' WHERE kafka_offset = 0 AND queue_id = pg_temp.q();
SELECT is(pg_temp.adopt(), '0', 'but then');
SELECT is(((t).attempt_num, (t).max_attempts)::text, '(2,2)', 'with an attempt of its own left')
FROM pg_temp.task(0) AS t;
SELECT is(pg_temp.fails(0, '58030'), 'Error', 'once more');
SELECT is(round(extract(epoch FROM (t).scheduled_for - (t).updated_at)), 10::numeric, 'put off for longer')
FROM pg_temp.task(0) AS t;
UPDATE lockstep.task SET scheduled_for = now() - interval '1 s' WHERE kafka_offset = 0 AND queue_id = pg_temp.q();
SELECT pg_temp.adopt();
SELECT is(pg_temp.fails(0, '53100'), 'Error', 'and once more, however often: max_lost does not count it');
SELECT is((t).error, '53100: it broke', 'the row says what it waits for') FROM pg_temp.task(0) AS t;
SELECT is((r).stop_after, NULL, 'nothing has failed') FROM pg_temp.run('A') AS r;

-- not_before.
SELECT pg_temp.queue();
SELECT is(pg_temp.special(0, 100, 0, '{"not_before": "2020-01-31T05:00:00.5+01:00"}',
                          '{"not_before": "2999-01-01T00:00:00Z"}', '{}'),
          'claimed+ ours nobody ours', 'not_before: what may not start yet is nobody''s');
SELECT is(((t).status, (t).attempt_num, (t).executor_no, (t).scheduled_for)::text,
          format('(Pending,1,,%I)', timestamptz '2999-01-01 00:00Z'), 'it is Pending, and scheduled')
FROM pg_temp.task(1) AS t;
SELECT pg_temp.complete(0, 2);
SELECT pg_temp.tell(pg_temp.q(), 'A3:200<100 A4:end(4,2)');
SELECT is(pg_temp.gate(200), 'due', 'the next phase waits for it, until it is due');
SELECT is(pg_temp.adopt(), 'none later', 'nobody takes it before');
SELECT ok((SELECT bool_or(reason = 'task_not_before') FROM lockstep.explain_task((pg_temp.task(1)).task_id)),
          'explain says so');
SELECT is((pg_temp.run('A')).status, 'Running', 'the run goes on');
UPDATE lockstep.task SET scheduled_for = now() - interval '1 s' WHERE kafka_offset = 1 AND queue_id = pg_temp.q();
SELECT is(pg_temp.adopt(), '1', 'then it is taken');
SELECT is((pg_temp.task(1)).attempt_num, 1, 'it is the first attempt');
SELECT pg_temp.complete(1);
SELECT is(pg_temp.gate(200), 'opened', 'and the next phase opens');
SELECT pg_temp.queue();
SELECT pg_temp.special(0, 100, 0, '{"not_before": "2999-01-01T00:00:00Z"}');
SELECT lockstep.task_cancel((pg_temp.task(0)).task_id);
SELECT lockstep.task_retry((pg_temp.task(0)).task_id);
SELECT is(((t).status, (t).scheduled_for)::text, format('(Pending,%I)', timestamptz '2999-01-01 00:00Z'),
          'one that is cancelled and retried waits for its time, too')
FROM pg_temp.task(0) AS t;

-- condition: the policy stop.
SELECT pg_temp.tell('A0:100<0 A1:100<0');
SELECT is(pg_temp.special(2, 200, 100, '{}', '{"condition": "always"}', '{"condition": "failure"}',
                          '{"condition": "success"}'),
          'claimed- ours ours nobody ours',
          'condition: what may run only after a failure is nobody''s until its phase opens');
SELECT pg_temp.tell(pg_temp.q(), 'A6:300<200');
SELECT is(pg_temp.adopt(), 'none !', 'nobody takes it, but somebody is to open the phase');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.statuses(), 'Failed Pending Cancelled Pending Pending Cancelled Cancelled',
          'stop: what has a condition is spared');
SELECT is(pg_temp.special(7, 300, 200, '{}', '{"condition": "always"}', '{"condition": "failure"}'),
          'cancelled- nobody nobody nobody', 'so it is when it comes after the failure, in a phase that was done');
SELECT is(pg_temp.special(10, 400, 300, '{"condition": "failure"}'), 'cancelled- nobody', 'and in a phase of its own');
SELECT is(pg_temp.tell(pg_temp.q(), 'A11:500<400 A12:end(12,5)'), 'A:500~ ended', 'what has none is cancelled');
SELECT is(pg_temp.gate(200), 'wait', 'the order is kept: the phase before is at work');
SELECT pg_temp.complete(1);
SELECT is(pg_temp.gate(200), 'opened conditional', 'then its phase opens, and who has tasks in hand is told to ask');
SELECT ok((SELECT count(*) = 1 FROM (VALUES (2), (3)) AS n (o), pg_temp.task(o) AS t WHERE (t).token IS NULL),
          'because some of them are void');
SELECT is(pg_temp.adopt(), '4', 'what runs because of the failure is taken');
SELECT pg_temp.complete(3, 4);
SELECT is(pg_temp.gate(300), 'opened conditional', 'likewise the next one');
SELECT is(pg_temp.adopt(), '8 9', 'with both');
SELECT pg_temp.complete(8, 9);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), NULL, 'the run has not ended');
SELECT is(pg_temp.gate(400), 'opened conditional', 'and the last one');
SELECT is(pg_temp.adopt(), '10', 'whose only task it is');
SELECT pg_temp.complete(10);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Failed', 'the run has failed all the same');
SELECT is(pg_temp.statuses(),
    'Failed Completed Cancelled Completed Completed Cancelled Cancelled Cancelled Completed Completed Completed '
    'Cancelled',
    'each task as it should be');
-- and its retry
SELECT is((r.tasks, r.phases)::text, '(6,4)',
          'a retry takes what failed and what was cancelled for it, not what has run')
FROM lockstep.run_retry(pg_temp.run_of('A'), queue => pg_temp.qname()) AS r;
SELECT is(pg_temp.statuses(),
    'Pending Completed Pending Completed Completed Pending Pending Pending Completed Completed Completed Pending',
    'in order');

-- condition: nothing failed.
SELECT pg_temp.queue();
SELECT is(pg_temp.special(0, 100, 0, '{"condition": "failure"}', '{"condition": "always"}', '{}'),
          'claimed+ nobody ours ours', 'nothing is before the first phase');
SELECT is(((t).status, (t).skipped, (t).error)::text, '(Cancelled,condition,"not needed: nothing before it failed")',
          'so nothing failed')
FROM pg_temp.task(0) AS t;
SELECT pg_temp.special(3, 200, 100, '{"condition": "failure"}');
SELECT pg_temp.tell(pg_temp.q(), 'A4:300<200 A5:end(5,3)');
SELECT pg_temp.complete(1, 2);
SELECT is(pg_temp.gate(300), 'opened conditional', 'the phase in between is the oldest');
SELECT is((SELECT string_agg((pg_temp.task(n)).skipped, ' ') FROM generate_series(0, 4) AS n), 'condition condition',
          'its only task is not needed');
SELECT is(pg_temp.gate(300), 'opened', 'so the next one opens at once');
SELECT pg_temp.complete(4);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Completed',
          'what was not needed does not count against the run');
SELECT throws_ok(format('SELECT lockstep.task_retry(%s)', (pg_temp.task(3)).task_id), 'LS002',
    format('task %s is not to be run: its condition is failure, and nothing before it failed',
           (pg_temp.task(3)).task_id),
    'nor is it retried');
SELECT throws_ok(format('SELECT lockstep.run_retry(%L, NULL, %L)', pg_temp.run_of('A'), pg_temp.qname()), 'LS002',
                 NULL, 'nor with its run');

-- condition: the other policies, losses, an operator.
SELECT pg_temp.queue(on_failure => 'continue');
SELECT pg_temp.tell(pg_temp.q(), 'A0:100<0');
SELECT pg_temp.special(1, 200, 100, '{"condition": "failure"}', '{}');
SELECT pg_temp.tell(pg_temp.q(), 'A3:end(3,2)');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.gate(200), 'opened conditional', 'continue:');
SELECT is(pg_temp.adopt(), '1', 'what is for a failure runs');
SELECT pg_temp.complete(1, 2);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'PartiallyCompleted', 'beside what goes on');
SELECT pg_temp.queue(on_failure => 'pause');
SELECT pg_temp.tell(pg_temp.q(), 'A0:100<0');
SELECT pg_temp.special(1, 200, 100, '{"condition": "failure"}', '{"condition": "always"}', '{}');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.gate(200), 'paused', 'pause: nothing opens,');
SELECT is(pg_temp.statuses(), 'Failed Pending Pending Pending', 'nothing is cancelled');
SELECT lockstep.run_resume(pg_temp.run_of('A'), queue => pg_temp.qname());
SELECT is(pg_temp.gate(200), 'opened conditional', 'until an operator lets it go on');
SELECT is(pg_temp.adopt(), '1', 'with what is for a failure');
SELECT pg_temp.tell('A0:100<0');
SELECT pg_temp.special(1, 200, 100, '{"condition": "always"}');
SELECT is(pg_temp.special(3, 300, 200, '{"condition": "always"}'), 'cancelled- nobody', 'messages are missing:');
SELECT is(pg_temp.statuses(), 'Pending Cancelled Cancelled', 'no condition helps');
SELECT pg_temp.tell('A0:100<0');
SELECT pg_temp.special(1, 200, 100, '{"condition": "always"}', '{"condition": "failure"}');
SELECT lockstep.run_cancel(pg_temp.run_of('A'), queue => pg_temp.qname());
SELECT pg_temp.special(3, 300, 200, '{"condition": "always"}');
SELECT is(pg_temp.statuses(), 'Cancelled Cancelled Cancelled Cancelled', 'an operator cancels the run: all of it');
SELECT pg_temp.tell('A0:100<0');
SELECT pg_temp.special(1, 200, 100, '{"condition": "always"}');
SELECT lockstep.task_cancel((pg_temp.task(0)).task_id);
SELECT is(pg_temp.statuses(), 'Cancelled Pending', 'one of its tasks: that counts as a failure');
SELECT pg_temp.tell('A0:100<0');
UPDATE lockstep.queue SET lookahead = 1 WHERE queue_id = pg_temp.q();
SELECT pg_temp.special(1, 200, 100, '{"condition": "always"}');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.claim(pg_temp.q(), 'task', pg_temp.run_of('A'), 300, 200, '{2}', '{2}'), 'cancelled',
          'what is cancelled needs no room in the lookahead');

-- key.
SELECT pg_temp.queue();
SELECT is(pg_temp.special(0, 100, 0, '{"key": "a"}', '{"key": "b"}', '{"key": "a"}', '{}'),
          'claimed+ ours ours nobody ours', 'key: the second with it is a duplicate');
SELECT is(((t).status, (t).skipped, (t).key, (t).attempt_num, (t).error)::text, format('(Cancelled,duplicate,a,0,%I)',
    format('duplicate: its key "a" is that of task %s', (pg_temp.task(0)).task_id)),
          'recorded, and not run') FROM pg_temp.task(2) AS t;
SELECT pg_temp.complete(0, 1, 3);
SELECT is(pg_temp.tell(pg_temp.q(), 'A4:end(4,1)'), 'ended=Completed', 'it counts for the run, and not against it');
SELECT set_config('lockstep.run_letter', 'B', true);
SELECT is(pg_temp.special(0, 100, 0, '{"key": "a"}', '{"key": "c"}'), 'claimed+ nobody ours', 'in another run, too');
DELETE FROM lockstep.task WHERE kafka_offset = 0 AND queue_id = pg_temp.q();
SELECT is(pg_temp.special(2, 100, 0, '{"key": "a"}'), 'claimed+ nobody', 'also when the first one is deleted');
SELECT throws_ok(format('SELECT lockstep.task_retry(%s)', (pg_temp.task(7)).task_id), 'LS002',
                 format('task %s is not to be run: its key "a" is that of task %s', (pg_temp.task(7)).task_id,
    (SELECT task_id FROM lockstep.idempotency_key WHERE queue_id = pg_temp.q() AND key = 'a')), 'and is not retried');
UPDATE lockstep.task SET status = 'Failed', token = NULL WHERE kafka_offset = 6 AND queue_id = pg_temp.q();
SELECT is(pg_temp.special(3, 100, 0, '{"key": "c"}'), 'claimed+ ours', 'a key whose task has failed is free');
SELECT throws_ok(format('SELECT lockstep.task_retry(%s)', (pg_temp.task(6)).task_id), 'LS002',
                 format('task %s is not to be run: its key "c" is that of task %s', (pg_temp.task(6)).task_id,
                        (pg_temp.task(8)).task_id),
                 'the failed one does not come back while the other has its key');
UPDATE lockstep.task SET status = 'Cancelled', token = NULL WHERE kafka_offset = 8 AND queue_id = pg_temp.q();
SELECT is((lockstep.task_retry((pg_temp.task(6)).task_id)), 'Pending', 'but when that was not done either');
SELECT is((SELECT task_id FROM lockstep.idempotency_key WHERE queue_id = pg_temp.q() AND key = 'c'),
          (pg_temp.task(6)).task_id, 'then it is its own again');
SELECT is(lockstep.key_take(pg_temp.q(), pg_temp.run_of('A'), ARRAY(SELECT (pg_temp.task(1)).task_id)), '{}',
          'a task finds its own key');
UPDATE lockstep.idempotency_key SET task_id = -1 WHERE queue_id = pg_temp.q() AND key = 'b';
SELECT is(lockstep.key_take(pg_temp.q(), pg_temp.run_of('A'), ARRAY(SELECT (pg_temp.task(1)).task_id)), '{}',
          'also when a replay has made its row anew');
SELECT pg_temp.queue();
SELECT is(pg_temp.special(0, 100, 0, '{"key": "a"}'), 'claimed+ ours', 'another queue has keys of its own');

-- Types.
SELECT throws_ok(format('UPDATE lockstep.task SET type = %L WHERE queue_id = %s', 'strange', pg_temp.q()), '23503',
                 'there is no task type strange', 'a task is of a type that the table lists');
SELECT throws_ok(format('UPDATE lockstep.task SET condition = %L WHERE queue_id = %s', 'never', pg_temp.q()), '23514',
                 'there is no condition never', 'a condition is one of those that there are');
SELECT lives_ok(format('UPDATE lockstep.task SET type = %L WHERE queue_id = %s', y.type, pg_temp.q()),
                'such as ' || y.type)
FROM lockstep.task_type y;

SELECT * FROM finish();
ROLLBACK;
