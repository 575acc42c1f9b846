-- External tasks and their workers (sql/api/next_task.sql, modify_task.sql, extend_task.sql, worker_*.sql), as a login
-- that is a member of lockstep_worker and nothing else. protocol.inc explains the rest. The effects of two sessions on
-- each other is in tests/e2e/external.sh.
BEGIN;
SELECT plan(98);
\ir protocol.inc
SET CONSTRAINTS ALL IMMEDIATE; -- what is settled at the commit is settled at once

INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
VALUES (gen_random_uuid(), 'h', 1, 'v', 4, '{q}');
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), 1)::text', 'executor');

-- Claims messages with these payloads, as executor 1 does; one segment. The answers have the form of tell.
CREATE FUNCTION pg_temp.tell_external(letter text, ord bigint, previous bigint, VARIADIC more text[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    from_seq bigint;
    offsets bigint[];
BEGIN
    SELECT next_offset INTO n FROM lockstep.queue WHERE queue_id = pg_temp.q();
    SELECT coalesce(max(next_seq), 0) INTO from_seq FROM lockstep.run
    WHERE queue_id = pg_temp.q() AND run_id = pg_temp.run_of(letter);
    offsets := ARRAY(SELECT n + i FROM generate_series(0, cardinality(more) - 1) AS i);
    INSERT INTO said (queue_id, verdict, next_offset, phase_id, run_no, is_open, took_shared, task_ids, tokens, note)
    SELECT pg_temp.q(), c.*
    FROM lockstep.claim(pg_temp.q(), 1, 0, ROW('task', pg_temp.run_of(letter), NULL, ord, previous, offsets,
        ARRAY(SELECT from_seq + i FROM generate_series(0, cardinality(more) - 1) AS i),
        ARRAY(SELECT ('{"type": "external", "order": ' || ord || '}')::jsonb || m::jsonb
              FROM unnest(more) AS m)::text[],
        array_fill('n'::text, ARRAY[cardinality(more)]),
        ARRAY(SELECT (m::json ->> 'max_attempts')::int FROM unnest(more) AS m),
        array_fill(NULL::text, ARRAY[cardinality(more)]),
        1, '\xd1', NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, false, false)::lockstep.segment,
        ARRAY(SELECT DISTINCT s.phase_id FROM said s WHERE s.phase_id IS NOT NULL)) AS c;
    RETURN pg_temp.answer(pg_temp.q(), offsets);
END
$$;
CREATE FUNCTION pg_temp.queue_name()
RETURNS text LANGUAGE sql AS $$ SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q() $$;

-- As a worker: SQLSTATE and message when it is refused, else the answer. {q}: the queue's name
CREATE ROLE external_worker LOGIN;
GRANT lockstep_worker TO external_worker;
CREATE FUNCTION pg_temp.worker(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
    name CONSTANT text := pg_temp.queue_name();
BEGIN
    SET LOCAL SESSION AUTHORIZATION external_worker;
    EXECUTE replace(command, '{q}', quote_nullable(name)) INTO answer;
    RESET SESSION AUTHORIZATION;
    RETURN answer;
EXCEPTION WHEN OTHERS THEN
    RESET SESSION AUTHORIZATION;
    RETURN concat_ws(' ', SQLSTATE, regexp_replace(SQLERRM, 'task \d+', 'task N'));
END
$$;
SELECT is((SELECT string_agg(DISTINCT p.proname, ' ' ORDER BY p.proname) FROM pg_proc p
           WHERE p.pronamespace = 'lockstep'::regnamespace
             AND has_function_privilege('external_worker', p.oid, 'EXECUTE')),
          'extend_task modify_task next_task ping task_is_type',
          'a worker may execute these functions, which docs/how-to/external-workers.md names, and no other');
-- Takes the next task: its offset; the token is kept.
CREATE TEMP TABLE taken (kafka_offset bigint PRIMARY KEY, task_id bigint, token timestamptz);
GRANT ALL ON taken TO external_worker;
CREATE FUNCTION pg_temp.next(types text DEFAULT 'NULL', worker text DEFAULT 'w1') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    got text := pg_temp.worker(format('SELECT task_id || '' '' || updated_at FROM lockstep.next_task({q}, %L, %s)',
                                      worker, types));
    t record;
BEGIN
    IF got IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT k.task_id, k.kafka_offset INTO STRICT t FROM lockstep.task k
    WHERE k.task_id = split_part(got, ' ', 1)::bigint;
    INSERT INTO taken VALUES (t.kafka_offset, t.task_id, substr(got, strpos(got, ' ') + 1)::timestamptz)
    ON CONFLICT (kafka_offset) DO UPDATE SET token = EXCLUDED.token, task_id = EXCLUDED.task_id;
    RETURN t.kafka_offset;
END
$$;
-- Reports with the token that next gave, or the last report; keeps the new one. Answers the status.
CREATE FUNCTION pg_temp.report(number bigint, status text, more text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    k record;
    got text;
BEGIN
    SELECT * INTO STRICT k FROM taken WHERE kafka_offset = number;
    got := pg_temp.worker(format(
        'SELECT m.status || '' '' || m.updated_at FROM lockstep.modify_task(%s, %L, %L %s) AS m', k.task_id, k.token,
        status, more));
    IF got ~ '^[A-Z][a-z]+ \d{4}-' THEN
        UPDATE taken SET token = substr(got, strpos(got, ' ') + 1)::timestamptz WHERE kafka_offset = number;
        RETURN split_part(got, ' ', 1);
    END IF;
    RETURN got;
END
$$;

-- The role: five functions, nothing else.
SELECT is(pg_temp.worker(
    'SELECT string_agg(proname, '' '' ORDER BY proname) FROM pg_proc '
    'WHERE pronamespace = ''lockstep''::regnamespace AND has_function_privilege(oid, ''EXECUTE'')'),
          'extend_task modify_task next_task ping task_is_type', 'what a worker may execute');
SELECT is((SELECT array_agg(c.relname::text ORDER BY 1) FROM pg_class c
            WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S')
              AND CASE WHEN c.relkind = 'S'
                           THEN has_sequence_privilege('lockstep_worker', c.oid, 'USAGE, SELECT, UPDATE')
                       ELSE has_table_privilege('lockstep_worker', c.oid,
                                                'SELECT, INSERT, UPDATE, DELETE, TRUNCATE') END),
          NULL, 'no right on any relation of ours');
SELECT is(pg_temp.worker('SELECT count(*) FROM lockstep.task'), '42501 permission denied for table task',
          'not even to look');
SELECT is(pg_temp.worker('SELECT lockstep.worker_expire(1)'), '42501 permission denied for function worker_expire',
          'nor what is behind its functions');

-- Claim: a row without an owner, which no executor adopts.
SELECT pg_temp.queue(on_failure => 'continue');
SELECT is(pg_temp.tell_external('A', 100, 0, '{"input": {"to": 1}, "kind": "mail"}', '{"kind": "letter"}', '{}'),
          'A:100x3+', 'external tasks are claimed, their first phase is open');
SELECT is(((t).type, (t).status, (t).executor_no, (t).token, (t).attempt_num)::text, '(external,Pending,,,1)',
          'nobody owns them')
FROM pg_temp.task(0) AS t;
SELECT is((SELECT (tokens)::text FROM said ORDER BY n DESC LIMIT 1), '{NULL,NULL,NULL}', 'and they have no token');
SELECT ok((pg_temp.phase(100)).external, 'the phase has external tasks');
SELECT is((SELECT string_agg(concat_ws(' ', verdict, task_id), ',') FROM lockstep.adopt(pg_temp.q(), 1, 100, '{}')),
          'none', 'adoption passes them over');
SELECT ok((SELECT wait_ms FROM lockstep.adopt(pg_temp.q(), 1, 100, '{}')) BETWEEN 299000 AND 300001,
          'it comes again before a lease can run out');
SELECT is(pg_temp.tell_external('A', 200, 100, '{}'), 'A:200-', 'the next phase waits');
SELECT is((SELECT (verdict, "order", task_id)::text FROM lockstep.adopt(pg_temp.q(), 1, 100, '{}')), '(none,200,)',
          'a closed phase of external tasks is named, to be opened');
SELECT is((SELECT (verdict, "order", task_id)::text
           FROM lockstep.adopt(pg_temp.q(), 1, 100, '{}', ARRAY[(pg_temp.phase(200)).phase_id])),
          '(none,,)', 'unless the caller knows of it');
SELECT is(lockstep.task_is_type((pg_temp.task(0)).task_id, 'mail'), true, 'task_is_type: its kind');
SELECT is(lockstep.task_is_type((pg_temp.task(0)).task_id, 'external'), true, 'its type');
SELECT is(lockstep.task_is_type((pg_temp.task(0)).task_id, 'letter'), false, 'not another''s');

-- next_task: the oldest first, of open phases only.
SELECT is(pg_temp.worker('SELECT lockstep.next_task(''no'', ''w'')::text'), 'LS003 there is no queue no',
          'a queue that is not there');
SELECT is(pg_temp.worker('SELECT lockstep.next_task({q}, '''')::text'),
          'LS002 a worker needs a name of 1 to 200 characters', 'a worker without a name');
SELECT is(pg_temp.next(), 0::bigint, 'the oldest');
SELECT is(((t).status, (t).worker, (t).attempt_num, (t).started_at IS NOT NULL,
           (t).lease_until > clock_timestamp() + interval '299 s')::text,
          '(Processing,w1,1,t,t)', 'it is the worker''s') FROM pg_temp.task(0) AS t;
SELECT is(pg_temp.next('ARRAY[''external'']'), 2::bigint, 'of the types that it asks for: no kind');
SELECT is(pg_temp.next('ARRAY[''mail'', ''letter'']'), 1::bigint, 'kinds');
SELECT is(pg_temp.next(), NULL, 'nothing of a phase that is not open');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 100)), 'external',
          'the gate waits for workers');
SELECT is(pg_temp.worker(format(
    'SELECT payload #>> ''{input,to}'' || type || name || "order" || run_id FROM lockstep.next_task(%L, ''w'')',
    pg_temp.queue_name())),
          NULL, 'nothing is an empty answer');

-- modify_task: the token.
SELECT is(pg_temp.worker(format('SELECT lockstep.modify_task(%s, %L, ''Completed'')::text', task_id,
                                token - interval '1 microsecond')),
          'LS001 task N: updated_at is stale; the task has changed since: it is Processing, worker w1',
          'a stale token')
FROM taken WHERE kafka_offset = 0;
SELECT is(pg_temp.worker(format('SELECT lockstep.modify_task(%s, NULL, ''Completed'')::text', task_id)),
          'LS001 task N: updated_at is stale; the task has changed since: it is Processing, worker w1', 'none')
FROM taken WHERE kafka_offset = 0;
SELECT is((pg_temp.task(0)).updated_at, (SELECT token FROM taken WHERE kafka_offset = 0), 'nothing is changed');
SELECT is(pg_temp.worker('SELECT lockstep.modify_task(-1, now(), ''Completed'')::text'), 'LS003 there is no task -1',
          'no such task');
SELECT is(pg_temp.report(0, 'Done'), 'LS002 there is no status Done', 'no such status');
SELECT is(array_agg(pg_temp.report(0, s.word)), array_agg('LS002 task N: ' || s.word || ' is no word of a worker'),
          'what operators do is not reported by workers')
FROM unnest('{Cancelled,Paused,Terminated}'::text[]) AS s (word);
SELECT is(pg_temp.report(0, 'Completed', ', scheduled_for => now()'),
          'LS002 task N: scheduled_for ' || now() || ' does not go with status Completed',
          'when it is due next, of one that is done');
SELECT is(pg_temp.report(0, 'Error', ', scheduled_for => ''infinity'''),
          'LS002 task N: scheduled_for infinity does not go with status Error', 'an end of time');
SELECT is(pg_temp.report(0, 'Error', ', scheduled_for => ''294276-01-01''') ~
          '^LS002 task N: scheduled_for 294276-01-01 .* does not go with status Error',
          true, 'the year 294276');
SELECT is(pg_temp.report(0, 'Error', ', scheduled_for => ''294277-01-01''') ~ '^22008 .*out of range', true,
          'and the year after that');
SELECT is(pg_temp.report(0, 'Completed', ', response => repeat(''x'', 1000001)'),
          'LS002 task N: a response or an error has at most 1000000 bytes, a step 1000 characters',
          'a response that is too large');
SELECT is(pg_temp.report(0, 'Processing', ', ''rendered'', ''<p>'''), 'Processing', 'a step is done');
SELECT is(pg_temp.worker(format('SELECT lockstep.modify_task(%s, %L, ''Completed'')::text', (pg_temp.task(0)).task_id,
                                (pg_temp.task(0)).started_at)),
          'LS001 task N: updated_at is stale; the task has changed since: it is Processing, worker w1',
          'each report makes a new token');
SELECT is(pg_temp.report(0, 'Completed'), 'Completed', 'and it is done');
SELECT is(((t).status, (t).step, (t).response, (t).error, (t).worker,
           (t).duration = (t).updated_at - (t).started_at)::text,
          '(Completed,rendered,<p>,,w1,t)', 'step and response are kept, the duration is computed')
FROM pg_temp.task(0) AS t;
SELECT is((SELECT (status, worker, executor_id, attempt, duration IS NOT NULL)::text FROM lockstep.execution_log
           WHERE task_id = (pg_temp.task(0)).task_id),
          '(Completed,w1,,1,t)', 'execution_log says who');
SELECT is(pg_temp.report(0, 'Processing'), 'LS002 task N is Completed and no worker has it',
          'what is finished stays so');
SELECT is(pg_temp.worker(format('SELECT lockstep.modify_task(%s, %L, ''Completed'')::text', (t).task_id,
                                (t).updated_at)),
          'LS002 task N is Pending and no worker has it', 'a task that was not taken, of a phase that is not open')
FROM pg_temp.task(3) AS t;
SELECT pg_temp.report(1, 'Pending');
SELECT is(((t).status, (t).attempt_num, (t).worker,
           (SELECT count(*) FROM lockstep.task_attempt a WHERE a.task_id = (t).task_id))::text,
          '(Pending,1,,0)', 'given back: nothing is counted')
FROM pg_temp.task(1) AS t;
SELECT is(pg_temp.next(), 1::bigint, 'and taken again');
SELECT is(pg_temp.report(1, 'Completed') || pg_temp.report(2, 'Completed'), 'CompletedCompleted', 'the phase is done');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 100)), 'opened',
          'the gate opens the next one');
SELECT is(pg_temp.next(), 3::bigint, 'which is handed out');
SELECT is(lockstep.worker_expire(pg_temp.q()), 0::bigint, 'a lease that runs is not touched');
SELECT is(pg_temp.tell(pg_temp.q(), 'A4:end(4,2)'), 'ended', 'the end of the run');
SELECT is(pg_temp.report(3, 'Completed'), 'Completed', 'its last task');
SELECT is((r).status, 'Completed', 'ends it') FROM pg_temp.run('A') AS r;
SELECT is((SELECT count(*) FROM lockstep.worker_report), 0::bigint, 'nothing is left to settle');

-- Attempts.
SELECT pg_temp.queue();
SELECT pg_temp.tell_external('A', 100, 0, '{"max_attempts": 3, "retry_intervals": [60, 7]}', '{}');
SELECT is(pg_temp.tell_external('A', 200, 100, '{}'), 'A:200-', 'two phases');
SELECT is(pg_temp.next() + pg_temp.next(), 1::bigint, 'two are taken');
SELECT is(pg_temp.report(0, 'Error', ', error => ''busy'''), 'Error', 'an attempt fails');
SELECT is(((t).status, (t).error, (t).attempt_num, (t).worker,
           round(extract(epoch FROM (t).scheduled_for - (t).updated_at)))::text,
          '(Error,busy,1,,60)', 'the next one is due after the first interval')
FROM pg_temp.task(0) AS t;
SELECT is(pg_temp.next(), NULL, 'not before');
UPDATE lockstep.task SET scheduled_for = clock_timestamp() WHERE queue_id = pg_temp.q() AND kafka_offset = 0;
SELECT is(pg_temp.next('NULL', 'w2'), 0::bigint, 'then');
SELECT is(pg_temp.report(0, 'Error', ', scheduled_for => clock_timestamp() - interval ''1 s'''), 'Error',
          'the worker may say when');
SELECT is(pg_temp.next('NULL', 'w3'), 0::bigint, 'at once');
SELECT is(pg_temp.report(0, 'Error', ', error => ''still busy'''), 'Failed', 'the last attempt: Failed');
SELECT is((SELECT array_agg((attempt, status, worker, error)::text ORDER BY attempt) FROM lockstep.execution_log
           WHERE task_id = (pg_temp.task(0)).task_id),
          ARRAY['(1,Error,w1,busy)', '(2,Error,w2,busy)', '(3,Failed,w3,"still busy")'], 'a row for each');
SELECT is((pg_temp.task(2)).status, 'Cancelled', 'the policy: what comes later is cancelled');
SELECT is(((r).stop_after, (r).error ~ 'failed: still busy$')::text, '(100,t)', 'and the run says why')
FROM pg_temp.run('A') AS r;

-- Leases.
SELECT is(pg_temp.worker(format('SELECT lockstep.extend_task(%s, %L, ''0 s'')::text', task_id, token)),
          'LS002 a lease is between 1 second and 1000 hours, not 00:00:00', 'no lease at all')
FROM taken WHERE kafka_offset = 1;
SELECT is(pg_temp.worker(format('SELECT lockstep.extend_task(%s, %L, ''1 h'')::text', task_id,
                                token - interval '1 s')) ~ '^LS001',
          true, 'a stale token')
FROM taken WHERE kafka_offset = 1;
SELECT is(pg_temp.worker(format('SELECT lockstep.extend_task(%s, %L, ''1 h'') > %2$L', task_id, token)), 'true',
          'extended: a new token')
FROM taken WHERE kafka_offset = 1;
SELECT ok((t).lease_until > clock_timestamp() + interval '59 min', 'an hour') FROM pg_temp.task(1) AS t;
UPDATE lockstep.task SET lease_until = clock_timestamp() - interval '1 s'
WHERE queue_id = pg_temp.q() AND kafka_offset = 1;
SELECT is(pg_temp.next('NULL', 'w9'), 1::bigint, 'a lease that ran out: the next one who asks gets it');
SELECT is(((t).attempt_num, (t).lost_num, (t).max_attempts, (t).worker)::text, '(2,1,2,w9)', 'lost, not failed')
FROM pg_temp.task(1) AS t;
SELECT is(pg_temp.report(1, 'Processing'), 'Processing', 'its new worker''s token counts');
UPDATE lockstep.queue SET max_lost = 2 WHERE queue_id = pg_temp.q();
UPDATE lockstep.task SET lease_until = clock_timestamp() - interval '1 s'
WHERE queue_id = pg_temp.q() AND kafka_offset = 1;
SELECT is(lockstep.give_up(pg_temp.q()), 1::bigint, 'executors find it, too');
SELECT is(((t).status, (t).error)::text, '(Failed,"given up: 2 attempts were lost")', 'lost too often')
FROM pg_temp.task(1) AS t;
SELECT is(pg_temp.report(1, 'Completed') ~ '^LS001', true, 'its worker comes too late');
SELECT is((SELECT array_agg((attempt, status, worker)::text ORDER BY attempt) FROM lockstep.execution_log
           WHERE task_id = (pg_temp.task(1)).task_id),
          ARRAY['(1,Pending,w1)', '(2,Failed,w9)'], 'a row for each');

-- An attempt that was lost uses up no interval.
SELECT pg_temp.queue();
SELECT pg_temp.tell_external('A', 100, 0, '{"max_attempts": 4, "retry_intervals": [60, 7]}');
SELECT pg_temp.next();
UPDATE lockstep.task SET lease_until = clock_timestamp() - interval '1 s' WHERE queue_id = pg_temp.q();
SELECT pg_temp.next(), pg_temp.report(0, 'Error');
SELECT is(round(extract(epoch FROM (t).scheduled_for - (t).updated_at)), 60::numeric,
          'the first failure of the second attempt waits for the first interval')
FROM pg_temp.task(0) AS t;
UPDATE lockstep.task SET scheduled_for = clock_timestamp() WHERE queue_id = pg_temp.q();
SELECT pg_temp.next(), pg_temp.report(0, 'Error');
SELECT is(round(extract(epoch FROM (t).scheduled_for - (t).updated_at)), 7::numeric, 'and the second for the second')
FROM pg_temp.task(0) AS t;

-- Held, cancelled, reopened.
SELECT pg_temp.queue(on_failure => 'continue');
SELECT pg_temp.tell_external('A', 100, 0, '{}'), pg_temp.tell_external('A', 200, 100, '{}', '{}');
UPDATE lockstep.queue SET paused = true WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.next(), NULL, 'nothing of a queue that is paused');
UPDATE lockstep.queue SET paused = false WHERE queue_id = pg_temp.q();
SELECT lockstep.run_pause(pg_temp.run_of('A'), 'x', pg_temp.queue_name());
SELECT is(pg_temp.next(), NULL, 'nor of a run that is held');
SELECT lockstep.run_resume(pg_temp.run_of('A'), 'x', pg_temp.queue_name());
SELECT pg_temp.next(), pg_temp.report(0, 'Failed', ', error => ''x''');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 100)), 'opened', 'continue');
SELECT is(pg_temp.next(), 1::bigint, 'a later phase is at work');
SELECT is((SELECT (verdict, blocking)::text FROM lockstep.reopen((pg_temp.phase(100)).phase_id, NULL, 'x')),
          '(refused,200)', 'so what is before it is not reopened');
SELECT pg_temp.report(1, 'Pending');
SELECT is((SELECT (verdict, reopened)::text FROM lockstep.reopen((pg_temp.phase(100)).phase_id, NULL, 'x')),
          '(reopened,1)', 'given back: it is');
SELECT is(pg_temp.next(), 0::bigint, 'in order: the reopened one');
SELECT is(pg_temp.next(), NULL, 'the later one is closed');
SELECT lockstep.run_cancel(pg_temp.run_of('A'), 'x', pg_temp.queue_name());
SELECT is(pg_temp.statuses(), 'Terminated Cancelled Cancelled', 'a cancelled run: what a worker has is Terminated');
SELECT is(pg_temp.report(0, 'Completed') ~ '^LS001', true, 'and its worker is told');

-- The policy pause: as of SQL tasks, those of the open phase continue.
SELECT pg_temp.queue(on_failure => 'pause');
SELECT pg_temp.tell_external('A', 100, 0, '{}', '{}'), pg_temp.tell_external('A', 200, 100, '{}');
SELECT pg_temp.next(), pg_temp.report(0, 'Failed', ', error => ''x''');
SELECT is((pg_temp.run('A')).status || ' ' || COALESCE(pg_temp.next(), -1), 'Paused 1',
          'another task of the open phase is given out');
SELECT is(lockstep.task_retry((pg_temp.task(0)).task_id) || ' ' || COALESCE(pg_temp.next(), -1), 'Pending 0',
          'and so is one that is retried');
SELECT is(pg_temp.report(0, 'Completed') || ' ' || pg_temp.report(1, 'Pending'), 'Completed Pending',
          'one is returned');
SELECT lockstep.run_pause(pg_temp.run_of('A'), 'x', pg_temp.queue_name());
SELECT is(pg_temp.next(), NULL, 'which an operator holds');
SELECT lockstep.run_resume(pg_temp.run_of('A'), 'x', pg_temp.queue_name());
SELECT is((pg_temp.run('A')).status || ' ' || COALESCE(pg_temp.next(), -1), 'Paused 1', 'until he resumes the run');
SELECT is(pg_temp.report(1, 'Completed') || ' ' ||
          (SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 100)),
          'Completed paused', 'the next phase waits for an operator');

-- An operator ends tasks that workers have: the log of executions has these workers, also behind a retry.
CREATE FUNCTION pg_temp.log() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', l.attempt, l.status, l.worker), ', ' ORDER BY l.seq, l.attempt)
    FROM lockstep.execution_log l WHERE l.queue = pg_temp.queue_name()
$$;
SELECT pg_temp.queue(on_failure => 'continue');
SELECT pg_temp.tell_external('A', 100, 0, '{}', '{}');
SELECT pg_temp.next('NULL', 'w1'), pg_temp.next('NULL', 'w2');
SELECT is(lockstep.task_fail((pg_temp.task(0)).task_id) || ' ' || lockstep.task_cancel((pg_temp.task(1)).task_id),
          'Failed Terminated', 'a task is declared failed, another one is cancelled');
SELECT lockstep.task_retry((pg_temp.task(0)).task_id), lockstep.task_retry((pg_temp.task(1)).task_id);
SELECT is(pg_temp.log(), '1 Failed w1, 1 Terminated w2', 'each attempt has its worker');
SELECT pg_temp.next('NULL', 'w3'), lockstep.task_complete((pg_temp.task(0)).task_id);
SELECT is(pg_temp.log(), '1 Failed w1, 2 Completed w3, 1 Terminated w2',
          'and so has one that was declared done meanwhile');
SELECT * FROM finish();
ROLLBACK;
