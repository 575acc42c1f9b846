-- Why something waits (sql/api/explain.sql, sql/functions/explain/): each reason of lockstep.wait_reason is made to
-- happen, and is named. protocol.inc explains how messages are written.
BEGIN;
SELECT plan(212);
\ir protocol.inc

INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
SELECT ('00000000-0000-4000-8000-00000000000' || n)::uuid, 'host' || n, 100 + n, 'v', 4, '{}'
FROM generate_series(1, 2) AS n;
SELECT is((SELECT array_agg(executor_no ORDER BY 1) FROM lockstep.executor), '{1,2}',
          'the claims here are of executor 1, which lives; 2 is dead');
SELECT NULL
FROM dblink_connect('alive', format('host=%s port=%s dbname=%s user=%s', current_setting('unix_socket_directories'),
                                    current_setting('port'), current_database(), session_user));
SELECT NULL FROM dblink('alive', 'SELECT pg_advisory_lock(1280507907, 1)::text') AS t (x text);
-- Which claims here, and has the locks of phases.
INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind)
SELECT 1, a.pid, a.backend_start, 'control' FROM pg_stat_activity a WHERE a.pid = pg_backend_pid();
INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind)
SELECT 1, a.pid, a.backend_start, 'liveness'
FROM dblink('alive', 'SELECT pg_backend_pid()') AS t (pid int) JOIN pg_stat_activity a USING (pid);

CREATE TEMP TABLE named (reason text);
CREATE FUNCTION pg_temp.queue_name()
RETURNS text LANGUAGE sql AS $$ SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q() $$;
-- The reasons, and the sentences; asked of a run by its letter, a task by its offset, else the queue.
CREATE FUNCTION pg_temp.reasons(letter text DEFAULT NULL, number bigint DEFAULT NULL)
RETURNS SETOF lockstep.explanation LANGUAGE sql AS $$
    SELECT e.* FROM lockstep.explain(CASE WHEN letter IS NULL AND number IS NULL THEN pg_temp.q() END,
                                     CASE WHEN letter IS NOT NULL THEN (pg_temp.run(letter)).run_no END,
                                     CASE WHEN number IS NOT NULL THEN (pg_temp.task(number)).task_id END) AS e
$$;
CREATE FUNCTION pg_temp.why(letter text DEFAULT NULL, number bigint DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    INSERT INTO named SELECT e.reason FROM pg_temp.reasons(letter, number) AS e;
    SELECT string_agg(e.reason, ' ') FROM pg_temp.reasons(letter, number) AS e
$$;
CREATE FUNCTION pg_temp.said(what text, letter text DEFAULT NULL, number bigint DEFAULT NULL)
RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(regexp_replace(replace(replace(e.sentence || ' -> ' || e.helps, pg_temp.queue_name(), 'Q'),
                                             '00000000-0000-4000-8000-', 'ID'),
                              'task ' ||
                              (SELECT coalesce(min(task_id), 0) FROM lockstep.task WHERE queue_id = pg_temp.q()) ||
                              '\M',
                              'task T'),
                      '; ')
    FROM pg_temp.reasons(letter, number) AS e WHERE e.reason = what
$$;
CREATE FUNCTION pg_temp.serve() RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.executor SET queues = queues || pg_temp.queue_name() WHERE executor_no = 1
$$;
-- A queue that executor 1 serves, with these messages.
CREATE FUNCTION pg_temp.begin(messages text, runs text DEFAULT 'serial', on_failure text DEFAULT 'stop')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_temp.queue(runs, on_failure);
    PERFORM pg_temp.serve();
    IF messages <> '' THEN PERFORM pg_temp.tell(pg_temp.q(), messages); END IF;
END
$$;
CREATE FUNCTION pg_temp.running(ago interval, VARIADIC numbers bigint[]) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.task SET status = 'Processing', started_at = clock_timestamp() - ago
    WHERE queue_id = pg_temp.q() AND kafka_offset = ANY (numbers)
$$;

CREATE FUNCTION pg_temp.answered(role text, query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET LOCAL ROLE %I', role);
    EXECUTE query;
    RESET ROLE;
    RETURN 'answered';
EXCEPTION WHEN others THEN
    RETURN SQLERRM;
END $$;

-- Words.
SELECT is((SELECT string_agg(lockstep.explain_words(w), ', ')
           FROM unnest('{0,59.9 s,61 s,2 h,49 h,-5 s}'::interval[]) AS w),
          '0 s, 59 s, 1 m 1 s, 2 h 0 m, 2 d 1 h, 0 s', 'spans of time');

SELECT is((lockstep.explain_row('readers_busy', '', '', NULL, ARRAY['QUEUE', 'TASK', 'TASK', '1'])).helps,
          'Wait for a task to finish. To let more run at once: lockstep queue set TASK --max-readers MORE. '
          'To see what runs: lockstep task list --queue TASK --status Processing',
          'what stands for a word is not replaced again');

SELECT pg_temp.queue();
SELECT is((SELECT string_agg((lockstep.explain_row(r, '', '', NULL, ARRAY['QUEUE', pg_temp.queue_name()])).helps, ' | ')
           FROM unnest('{readers_busy,lookahead}'::text[]) AS r) ~ '--max-readers 10\. .*--lookahead 200$', true,
          'a bound that can be raised');
UPDATE lockstep.queue SET max_readers = 1000, lookahead = 1000 WHERE queue_id = pg_temp.q();
SELECT is((SELECT string_agg((lockstep.explain_row(r, '', '', NULL, ARRAY['QUEUE', pg_temp.queue_name()])).helps, ' | ')
           FROM unnest('{readers_busy,lookahead}'::text[]) AS r),
          'Wait for a task to finish. To see what runs: lockstep task list --queue ' || pg_temp.queue_name()
          || ' --status Processing | Nothing: it continues when the next phase opens.', 'one that cannot');

-- A queue.
SELECT pg_temp.begin('');
SELECT is(pg_temp.why(), 'queue_idle', 'nothing to do');
SELECT pg_temp.queue();
SELECT is(pg_temp.why(), 'no_executor queue_idle', 'no executor at all');
SELECT is(pg_temp.said('no_executor'), 'no executor works for queue Q; none has ever reached this database for it -> '
    'lockstep executor run --queue Q. If one was started and cannot connect, its own log says why; '
    'on its host: lockstep check',
    'said so, with what helps');
UPDATE lockstep.executor SET queues = queues || pg_temp.queue_name() WHERE executor_no = 2;
SELECT is(pg_temp.why(), 'no_executor queue_idle', 'one that died');
SELECT matches(pg_temp.said('no_executor'),
    'the last one was ID000000000002 on host2 \(pid 102\), which ended without a word: '
    'it was killed, its host is gone, or its login is refused',
    'is named');
CREATE ROLE explain_login;
UPDATE lockstep.executor SET login = 'explain_login' WHERE executor_no = 2;
CREATE FUNCTION pg_temp.word() RETURNS text LANGUAGE sql AS $$
    SELECT substring(pg_temp.said('no_executor') FROM 'without a word: (.*) -> lockstep executor run')
$$;
SELECT is(pg_temp.word(), 'its login may not log in: ALTER ROLE explain_login LOGIN', 'a login that may not');
ALTER ROLE explain_login LOGIN VALID UNTIL '2020-01-01';
SELECT is(pg_temp.word(), 'the password of its login has expired: ALTER ROLE explain_login VALID UNTIL ''infinity''',
          'one whose password has expired');
ALTER ROLE explain_login VALID UNTIL 'infinity';
SELECT is(pg_temp.word(), 'its login may not execute: GRANT lockstep_executor TO explain_login',
          'one without the group');
GRANT lockstep_executor TO explain_login;
SELECT matches(pg_temp.word(), '^it was killed', 'one that may');
REVOKE lockstep_executor FROM explain_login;
DROP ROLE explain_login;
SELECT is(pg_temp.word(), 'there is no login explain_login any more', 'one that is gone');
UPDATE lockstep.executor SET login = session_user WHERE executor_no = 2;
UPDATE lockstep.executor
SET ended_at = now(), ended_why = 'failed', ended_error = 'password authentication failed for user "t"'
WHERE executor_no = 2;
SELECT matches(pg_temp.said('no_executor'),
    '\(pid 102\), which ended with: password authentication failed for user "t" -> lockstep executor run --queue Q\. ',
    'and what ended it');
UPDATE lockstep.executor
SET ended_at = clock_timestamp(), ended_why = 'lost', ended_error = 'executor_claim: 53100: could not extend file'
WHERE executor_no = 2;
SELECT matches(pg_temp.said('queue_set_aside'),
    'host2 \(pid 102\) failed and starts again: executor_claim: 53100: could not extend file' ||
    ' -> Free disk space on the database server; the executor tries again by itself$',
    'in a pause of it, because the disk is full');
INSERT INTO lockstep.executor_aside (executor_no, queue_id, since, failed_at, until_at, error)
VALUES (2, pg_temp.q(), now() - interval '1 h', now() - interval '5 min', now() + interval '5 min', 'claim: old');
SELECT matches(pg_temp.said('queue_set_aside'), 'failed and starts again: executor_claim: 53100',
               'also when its note about the queue is older');
UPDATE lockstep.executor_aside SET failed_at = clock_timestamp();
SELECT matches(pg_temp.said('queue_set_aside'), 'has set queue Q aside and tries again in .*: claim: old',
               'else the note says it');
DELETE FROM lockstep.executor_aside;
UPDATE lockstep.executor SET ended_at = clock_timestamp() - interval '121 s' WHERE executor_no = 2;
SELECT is(pg_temp.why(), 'no_executor queue_idle', 'no pause is so long');
UPDATE lockstep.executor SET ended_at = NULL, ended_why = NULL, ended_error = NULL WHERE executor_no = 2;
SELECT pg_temp.serve();
UPDATE lockstep.executor SET heartbeat_at = clock_timestamp() - interval '5 min' WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'executor_silent queue_idle', 'one that does not stir');
SELECT matches(pg_temp.said('executor_silent'),
    'executor ID000000000001 on host1 \(pid 101\) holds its locks and has not stirred for [5-6] m [0-9]+ s: '
    'it is frozen.*On host1: kill -CONT 101 lets it continue; kill -KILL 101 ends it',
    'is named, with what helps');
UPDATE lockstep.executor SET frozen_after = '6 min' WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'queue_idle', 'not before its own frozen_after');
UPDATE lockstep.executor SET heartbeat_at = clock_timestamp() WHERE executor_no = 1;
INSERT INTO lockstep.executor_aside (executor_no, queue_id, since, until_at, error)
VALUES (1, pg_temp.q(), now() - interval '1 h', clock_timestamp() + interval '100.5 s', 'claim: out of paper');
SELECT is(pg_temp.why(), 'queue_set_aside queue_idle', 'one that has set the queue aside');
SELECT matches(pg_temp.said('queue_set_aside'),
    'executor ID000000000001 on host1 \(pid 101\) has set queue Q aside and tries again in (1 m )?[0-9]+ s: claim: '
    'out of paper -> Repair',
    'says why, and when it tries again');
UPDATE lockstep.executor_aside SET executor_no = 2, until_at = NULL;
UPDATE lockstep.executor SET ended_why = 'lost', ended_at = now() WHERE executor_no = 2;
SELECT matches(pg_temp.said('queue_set_aside'),
               'executor ID000000000002 on host2 \(pid 102\) fails at queue Q and starts again: claim: out of paper',
               'one that has no other queue, between two incarnations');
UPDATE lockstep.executor_aside SET failed_at = now() - interval '2 min';
SELECT is(pg_temp.why(), 'queue_idle', 'and has not come again');
UPDATE lockstep.executor_aside
SET failed_at = now(), error = 'claim: 53100: could not extend file "base/5/16": No space left on device';
SELECT matches(pg_temp.said('queue_set_aside'),
    'fails at queue Q and starts again: claim: 53100: .*device' ||
    ' -> Free disk space on the database server; the executor tries again by itself$',
    'a full disk, and what helps');
DELETE FROM lockstep.executor_aside;
INSERT INTO lockstep.executor (executor_no, executor_id, host, pid, version, readers, queues, ended_at, ended_why,
    ended_error) OVERRIDING SYSTEM VALUE
VALUES (0, '00000000-0000-4000-8000-000000000000', 'host1', 101, 'v', 4, '{}', clock_timestamp(), 'lost',
    'late: 53100: could not extend file');
SELECT matches(pg_temp.said('queue_set_aside'),
    'executor ID000000000001 on host1 \(pid 101\) failed 0 s ago and has started again: late: 53100: could not ' ||
    'extend file -> Free disk space',
    'one that has just started again');
UPDATE lockstep.executor SET ended_at = clock_timestamp() - interval '61 s' WHERE executor_no = 0;
SELECT is(pg_temp.why(), 'queue_idle', 'not for longer than a minute');
DELETE FROM lockstep.executor WHERE executor_no = 0;
UPDATE lockstep.executor SET ended_why = NULL, ended_at = NULL WHERE executor_no = 2;
SELECT lockstep.executor_set('00000000-0000-4000-8000-000000000001', 0, 'maintenance');
SELECT is(pg_temp.why(), 'executors_without_readers queue_idle', 'one that is to use no reader');
SELECT matches(pg_temp.said('executors_without_readers'),
               'set to 0 readers by ' || session_user || ' -> lockstep executor set ID000000000001 --readers 1',
               'says by whom, and what helps names it');
UPDATE lockstep.executor SET trouble = 'broker: timed out', trouble_at = now() - interval '9 s', readers_limit = NULL
WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'executor_cut_off queue_idle', 'one that cannot reach Kafka');
SELECT matches(pg_temp.said('executor_cut_off'),
    'executor ID000000000001 on host1 \(pid 101\) cannot reach Kafka for [0-9]+ s: broker: timed out -> '
    'On host1: lockstep check',
    'is named, with why');
UPDATE lockstep.executor SET ends = array_fill(1000::bigint, ARRAY[cardinality(queues)]) WHERE executor_no = 1;
SELECT is(lockstep.queue_lag(pg_temp.queue_name(), 990), 10::bigint, 'the lag, of an executor that sees the topic');
UPDATE lockstep.executor SET trouble_kind = 'kafka' WHERE executor_no = 1;
SELECT is(lockstep.queue_lag(pg_temp.queue_name(), 990), NULL, 'the lag is not known without Kafka');
UPDATE lockstep.executor SET trouble_kind = 'login', trouble = '4 of 4 readers: password authentication failed'
WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'executor_without_login queue_idle', 'one whose tasks'' login is refused');
SELECT matches(pg_temp.said('executor_without_login'),
    'executor ID000000000001 on host1 \(pid 101\) cannot open sessions for its tasks for [0-9]+ s: 4 of 4 readers: '
    'password authentication failed -> Let that login in .* on host1 continues',
    'is named, with why');
UPDATE lockstep.executor SET trouble = '4 of 4 readers: "t" may not: permission denied. GRANT lockstep_task TO "t";'
WHERE executor_no = 1;
SELECT matches(pg_temp.said('executor_without_login'),
               'permission denied -> GRANT lockstep_task TO "t"; the executor continues by itself$', 'a grant');
UPDATE lockstep.executor SET trouble_kind = 'readers', trouble = '1 of 4 readers: too many connections for role'
WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'readers_cut_off queue_idle', 'one of which only some readers can log in');
SELECT matches(pg_temp.said('readers_cut_off'),
    'executor ID000000000001 on host1 \(pid 101\) cannot open sessions for some of its readers for [0-9]+ s: '
    '1 of 4 readers: too many connections for role -> Let that login in .* on host1 continue',
    'is named, with why');
SELECT results_eq($$SELECT x.working, x.hindered FROM lockstep.executors_by_queue(ARRAY[pg_temp.queue_name()]) AS x$$,
                  'VALUES (1::bigint, 0::bigint)', 'and works');
SELECT is(lockstep.queue_lag(pg_temp.queue_name(), 990), 10::bigint, 'and sees the topic');
SELECT results_eq($$SELECT c.grade, c.finding ~ '1 of 4 readers' FROM lockstep.check_list() AS c
                    WHERE c.subject = 'executors' AND c.finding ~ 'ID000000000001|0001 on host1'$$,
                  $$VALUES ('warn', true)$$, 'check warns');
UPDATE lockstep.executor SET trouble_kind = 'writes', trouble = 'queue Q: claim: 53100: could not extend file'
WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'queue_set_aside queue_idle', 'one that cannot even write why');
SELECT matches(pg_temp.said('queue_set_aside'),
    'executor ID000000000001 on host1 \(pid 101\) cannot write to the database for [0-9]+ s: queue Q: claim: 53100: '
    'could not extend file -> Free disk space on the database server; the executor tries again by itself$',
    'is named, with what helps');
UPDATE lockstep.executor SET trouble = NULL, trouble_kind = NULL WHERE executor_no = 1;
UPDATE lockstep.executor
SET queues = queues || 'elsewhere'::text,
    queue_trouble = array_fill(NULL::text, ARRAY[cardinality(queues) - 1]) || ARRAY['topic: forbidden', NULL],
    queue_trouble_at = array_fill(NULL::timestamptz, ARRAY[cardinality(queues) - 1]) || now() - interval '9 s'
WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'topic_unreadable queue_idle', 'one that cannot read the topic of this queue');
SELECT matches(pg_temp.said('topic_unreadable'),
    'executor ID000000000001 on host1 \(pid 101\) cannot read the topic of queue Q for [0-9]+ s: topic: forbidden -> '
    'Repair what the error names: the executor on host1 continues by itself. .*: lockstep queue resume Q$',
    'is named, with why');
SELECT results_eq($$SELECT x.working, x.hindered
                    FROM lockstep.executors_by_queue(ARRAY[pg_temp.queue_name(), 'elsewhere']) AS x
                    ORDER BY x.working$$,
                  'VALUES (0::bigint, 1::bigint), (1, 0)', 'and works for its other queue');
SELECT is(lockstep.queue_lag(pg_temp.queue_name(), 990), NULL, 'the lag of this queue is not known');
UPDATE lockstep.executor
SET queue_trouble = array_fill(NULL::text, ARRAY[cardinality(queues) - 1]) || 'topic: forbidden'::text
WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'queue_idle', 'nothing is said of the trouble of another queue');
SELECT is(lockstep.queue_lag(pg_temp.queue_name(), 990), 10::bigint, 'nor does it hide the lag');
UPDATE lockstep.executor
SET queues = array_remove(queues, 'elsewhere'), queue_trouble = NULL, queue_trouble_at = NULL WHERE executor_no = 1;
UPDATE lockstep.executor SET drain_by = 'u', drain_at = now() WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'executors_drain queue_idle', 'all are draining');
UPDATE lockstep.executor SET drain_by = NULL, signalled = 'draining' WHERE executor_no = 1;
SELECT is(pg_temp.said('executors_drain'),
          'all executors of queue Q (1) are draining -> lockstep executor run --queue Q',
          'also those that a signal ends');
INSERT INTO lockstep.executor (executor_no, executor_id, host, pid, version, readers, queues, signalled)
OVERRIDING SYSTEM VALUE
SELECT 0, '00000000-0000-4000-8000-000000000000', 'host0', 100, 'v', 4, queues, 'held'
FROM lockstep.executor WHERE executor_no = 1;
SELECT NULL FROM dblink('alive', 'SELECT pg_advisory_lock(1280507907, 0)::text') AS t (x text);
SELECT is(pg_temp.why(), 'executors_held queue_idle', 'one is held by a signal, the other ends');
SELECT is(pg_temp.said('executors_held'), 'executor ID000000000000 on host0 (pid 100) claims nothing for queue Q: '
          'a signal (SIGUSR1) holds it -> On host0: kill -USR2 100', 'is named, with the signal that frees it');
UPDATE lockstep.executor SET readers_limit = 0 WHERE executor_no = 0;
SELECT matches(pg_temp.said('executors_without_readers'), '-> lockstep executor set ID000000000000 --readers 1$',
               'one without readers is named, not one that ends');
SELECT NULL FROM dblink('alive', 'SELECT pg_advisory_unlock(1280507907, 0)::text') AS t (x text);
DELETE FROM lockstep.executor WHERE executor_no = 0;
UPDATE lockstep.executor SET signalled = NULL, readers_limit = NULL WHERE executor_no = 1;
UPDATE lockstep.queue SET halted_reason = 'fingerprint', halted_detail = 'another record', halted_at = now()
WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why(), 'queue_halted queue_idle', 'a halted queue');
SELECT matches(pg_temp.said('queue_halted'),
    'queue Q is halted \(fingerprint\): another record -> '
    '.*lockstep queue resume Q --accept-topic --from-offset earliest',
    'says why, and the remedy itself');
UPDATE lockstep.queue SET halted_reason = NULL WHERE queue_id = pg_temp.q();
SELECT lockstep.queue_pause(pg_temp.queue_name(), 'disk full');
SELECT is(pg_temp.why(), 'queue_paused queue_idle', 'a paused queue');
SELECT is(pg_temp.said('queue_paused'),
          'queue Q is paused by ' || session_user || ': disk full -> lockstep queue resume Q', 'says by whom and why');
SELECT ok(since > now() - interval '1 min', 'and since when') FROM pg_temp.reasons() WHERE reason = 'queue_paused';
SELECT lockstep.queue_resume(pg_temp.queue_name());
UPDATE lockstep.queue SET blocked_offset = 7, blocked_at = now() - interval '70 s' WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why(), 'blocked_by_transaction queue_idle', 'a transaction of somebody holds back the topic');
SELECT matches(pg_temp.said('blocked_by_transaction'), 'topic t from offset 7 on, for [1-2] m [0-9]+ s',
               'says where and since when');
UPDATE lockstep.queue SET blocked_offset = NULL, max_readers = 0 WHERE queue_id = pg_temp.q();
INSERT INTO lockstep.event_log (event, queue_id, detail) VALUES ('queue_changed', pg_temp.q(), 'max_readers 0');
SELECT is(pg_temp.why(), 'no_readers queue_idle', 'a bound of 0');
SELECT matches(pg_temp.said('no_readers'),
    'its bound is 0, set by ' || session_user || ' -> lockstep queue set Q --max-readers 1', 'says who set it');
UPDATE lockstep.queue SET max_readers = 1 WHERE queue_id = pg_temp.q();
INSERT INTO lockstep.slot (queue_id, slot_no, executor_no, pid, backend_start, taken_at)
SELECT pg_temp.q(), 1, 2, pid, backend_start, now() FROM pg_stat_activity WHERE pid = pg_backend_pid();
SELECT is(pg_temp.why(), 'slots_kept queue_idle', 'a dead executor''s session in a slot');
SELECT matches(pg_temp.said('slots_kept'), 'slot 1 of queue Q is kept until backend ' || pg_backend_pid() ||
                                           ' of a dead.*terminate_backend\(' || pg_backend_pid(),
               'which is named');
SELECT pg_temp.tell(pg_temp.q(), 'A0..2:100<0');
SELECT pg_temp.running('4 min', 0);
UPDATE lockstep.slot SET executor_no = 1, pid = NULL WHERE queue_id = pg_temp.q();
INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind)
SELECT 1, a.pid, a.backend_start, 'control'
FROM dblink('other', 'SELECT pg_backend_pid()') AS t (pid int) JOIN pg_stat_activity a USING (pid);
SELECT pg_temp.other('pg_advisory_lock(1280507906, %s)::text',
                     (SELECT slot_id::text FROM lockstep.slot WHERE queue_id = pg_temp.q()));
SELECT is(pg_temp.why(), 'readers_busy task_running task_in_hand task_in_hand', 'no reader is free');
SELECT matches(pg_temp.said('readers_busy'),
    'no reader of queue Q is free: 1 of 1 are in use \(1 by run ID000000000065\); '
    'the longest at work is task T "name 0" of order 100 on host1, for [4-5] m [0-9]+ s',
    'how many, and the longest');
SELECT matches(pg_temp.said('task_running'),
    'task T "name 0" of order 100 runs for [4-5] m [0-9]+ s on executor ID000000000001 on host1 \(pid 101\)',
    'a task that runs');
SELECT matches(pg_temp.why(number => 1), '^readers_busy task_in_hand task_running', 'a task that waits for a reader');
UPDATE lockstep.executor SET readers = 1 WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'readers_spent task_running task_in_hand task_in_hand', 'nor has its executor one');
SELECT matches(pg_temp.said('readers_spent'),
               'its executors have no more either -> .*set Q --max-readers 2.*executor run --queue Q',
               'both are short');
UPDATE lockstep.queue SET max_readers = 2 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why(), 'executors_busy task_running task_in_hand task_in_hand', 'only the executor has none');
SELECT matches(pg_temp.said('executors_busy'),
               'all readers of the executors of queue Q \(1\) are at work \(1 by run .*bound of 2 is not reached -> '
               || '.*executor run --queue Q', 'so one more executor helps');
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, paused_by, first_offset)
VALUES (pg_temp.run_of('Z'), pg_temp.q(), 'stop', 'Paused', 'u', 50);
SELECT is(pg_temp.why() ~ '^executors_busy', false, 'where runs are serial, a paused run is what the others wait for');
UPDATE lockstep.queue SET runs = 'concurrent' WHERE queue_id = pg_temp.q();
SELECT matches(pg_temp.why(), '^executors_busy ', 'where they are concurrent it is not');
UPDATE lockstep.queue SET runs = 'serial' WHERE queue_id = pg_temp.q();
DELETE FROM lockstep.run WHERE queue_id = pg_temp.q() AND paused_by = 'u';
UPDATE lockstep.executor SET readers = 3, readers_limit = 1 WHERE executor_no = 1;
SELECT is(pg_temp.why(), 'executors_limited task_running task_in_hand task_in_hand',
          'it may not use the ones it has');
SELECT matches(pg_temp.said('executors_limited'),
               'executor ID.* is set to use 1 of its 3 -> .*executor set ID.* --readers 3', 'so the limit is lifted');
UPDATE lockstep.executor SET readers_limit = NULL WHERE executor_no = 1;
UPDATE lockstep.queue SET max_readers = 1 WHERE queue_id = pg_temp.q();
DELETE FROM lockstep.executor_session WHERE kind = 'control' AND pid <> pg_backend_pid();
SELECT matches(pg_temp.why(number => 1), '^locks_taken ', 'a reader, while another session has the slots');
SELECT pg_temp.other('pg_advisory_unlock(1280507906, %s)::text',
                     (SELECT slot_id::text FROM lockstep.slot WHERE queue_id = pg_temp.q()));

-- Phases and runs.
SELECT pg_temp.begin('A0..3:100<0 A4:200<100 B0:100<0');
SELECT pg_temp.complete(1, 2), pg_temp.running('4 min', 0);
SELECT is(pg_temp.why('A'), 'task_running task_in_hand phase_before', 'a phase waits for the one before');
SELECT matches(pg_temp.said('phase_before', 'A'),
    'order 200 of run ID.* waits for order 100: 2 of 4 tasks not finished, the oldest for [4-5] m [0-9]+ s',
    'how many, and since when');
SELECT is(pg_temp.why(number => 4), 'task_running phase_before task_in_hand', 'so does a task of it');
SELECT is(pg_temp.why('B'), 'run_before task_running task_in_hand phase_before',
          'a run waits for the one before, and that one for its tasks');
SELECT matches(pg_temp.said('run_before', 'B'),
    'run ID000000000066 waits for the end of run ID000000000065, which is Running -> .*run cancel ID000000000065',
    'which is named');
SELECT lockstep.run_pause(pg_temp.run_of('A'), 'look first', pg_temp.queue_name());
SELECT is(pg_temp.why('A'), 'run_paused task_running task_in_hand phase_before', 'a run that is held');
SELECT matches(pg_temp.said('run_paused', 'A'), 'run ID000000000065 is paused by ' || session_user || ': look first',
               'says by whom and why');
SELECT lockstep.run_resume(pg_temp.run_of('A'), NULL, pg_temp.queue_name());
SELECT lockstep.run_cancel(pg_temp.run_of('A'), 'wrong file', pg_temp.queue_name());
SELECT is(pg_temp.why('A'), 'run_stopping task_running', 'a run that is cancelled and still runs');
SELECT matches(pg_temp.said('run_stopping', 'A'),
               'was cancelled by ' || session_user || ': wrong file; 1 of its tasks still run', 'says so');
SELECT pg_temp.tell(pg_temp.q(), 'A5:end(5,2)');
SELECT lockstep.lose(pg_temp.q(), ARRAY[(pg_temp.task(0)).task_id], ARRAY[(pg_temp.task(0)).token], 'x'),
       lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT is(pg_temp.why('A'), 'run_retryable', 'a run that has ended, not well');
SELECT matches(pg_temp.said('run_retryable', 'A'), '-> lockstep run retry ID000000000065$', 'and can be retried');
SELECT is(pg_temp.why(number => 0), 'task_retryable', 'a task that is finished, not well');
SELECT is(pg_temp.why(number => 1), 'task_finished', 'a task that is done');
UPDATE lockstep.queue SET lookahead = 1 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why('B'), 'lookahead', 'enough is claimed ahead');
SELECT pg_temp.begin('A0:100<0 A1:200<100 A2:end(2,2)');
SELECT pg_temp.fail(0), lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT is(pg_temp.why(number => 0) || ' ' || pg_temp.why(number => 1), 'task_retryable task_stopped_by_failure',
          'a task that was cancelled because one before it failed');
SELECT matches(pg_temp.said('task_stopped_by_failure', number => 1),
               'is Cancelled because a task before it failed: task T of order 100 failed: division by zero '
               '-> When the run has ended: lockstep run retry ID000000000065$', 'names that, and the retry of both');
SELECT pg_temp.begin('A0:100<0 A1:200<100', on_failure => 'pause');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.why('A'), 'run_paused_by_failure', 'a run that its policy paused');
SELECT matches(pg_temp.said('run_paused_by_failure', 'A'),
               'task T of order 100 failed: division by zero -> To try it again: lockstep run retry ID',
               'says for what, and what to do');
SELECT pg_temp.begin('A0:100<0');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.why('A'), 'run_end_missing', 'everything is finished, and its producer is another program');
SELECT is(pg_temp.said('run_end_missing', 'A'),
    'every claimed task of run ID000000000065 (1) is finished; '
    'its end has not come: its producer is none of lockstep publish and has sent none'
    ' -> If no more of it will come: lockstep run end ID000000000065', 'what helps is said');
SELECT pg_temp.tell(pg_temp.q(), 'B0:100<0');
SELECT is(pg_temp.why('B'), 'run_before_endless run_end_missing', 'so it is of the run behind it');
SELECT matches(pg_temp.said('run_before_endless', 'B'),
               '-> If no more of it will come: lockstep run end ID000000000065$', 'the same');
SELECT is(pg_temp.why(), 'run_end_missing', 'and of the queue');
UPDATE lockstep.run SET publish_acked_seq = 0, publish_acked_offset = 0 WHERE run_no = (pg_temp.run('A')).run_no;
SELECT is(pg_temp.why('A'), 'run_abandoned', 'its producer is gone');
SELECT is(pg_temp.why('B'), 'run_before_endless run_abandoned', 'and the run behind it says so');
SELECT matches(pg_temp.said('run_abandoned', 'A'),
    '-> To continue it: lockstep publish --queue Q --resume ID000000000065. '
    'To close it: lockstep run end ID000000000065$',
    'what helps is said');
UPDATE lockstep.run SET publish_from = 'pipe' WHERE run_no = (pg_temp.run('A')).run_no;
SELECT matches(pg_temp.said('run_abandoned', 'A'),
               'a copy of what was piped: lockstep publish --queue Q --resume ID000000000065 FILE. To close',
               'a pipe is not read again');
UPDATE lockstep.run SET publish_from = NULL WHERE run_no = (pg_temp.run('A')).run_no;
INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw, redrive_run)
VALUES (pg_temp.q(), 7, 'bad_json', 'x', 'x', pg_temp.run_of('A'));
SELECT is(pg_temp.why('A'), 'run_end_missing', 'a redrive of which some is claimed is on the topic whole');
SELECT matches(pg_temp.said('run_end_missing', 'A'), '-> If no more of it will come: lockstep run end ID000000000065$',
               'so a publish does not continue it');
DELETE FROM lockstep.rejected_message WHERE queue_id = pg_temp.q();
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), %s)::text', 'producer', pg_temp.q()::text);
SELECT is(pg_temp.why('A'), 'run_publishing', 'its producer lives');
SELECT matches(pg_temp.said('run_publishing', 'A'),
               'its producer is at work \(backend \d+: ' || session_user ||
               '.*\) -> Wait for its producer, or: lockstep run cancel ID000000000065$',
               'and is named');
SELECT pg_temp.other('pg_advisory_unlock(lockstep.lock_class(%L), %s)::text', 'producer', pg_temp.q()::text);
UPDATE lockstep.run SET published_at = now(), publish_acked_offset = 9 WHERE run_no = (pg_temp.run('A')).run_no;
SELECT is(pg_temp.why('A'), 'run_end_unclaimed', 'its producer is finished, and its end is not claimed');
SELECT matches(pg_temp.said('run_end_unclaimed', 'A'), 'lockstep queue explain Q$',
               'the run names the queue, which has more to say');
SELECT matches(pg_temp.said('run_end_unclaimed'), 'Nothing: it ends when its end is claimed$',
               'the queue does not name itself');
SELECT pg_temp.begin('100<0 A0:100<0');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.why('A'), 'run_before_endless run_end_missing', 'behind an implicit run');
SELECT matches(pg_temp.said('run_end_missing', 'A'),
    'its messages name no run, so it ends with .* -> If no more of it will come: lockstep run end [0-9a-f-]{36}$',
    'which has an id, too');
SELECT pg_temp.begin('A0:100<0 B0:100<0');
SELECT pg_temp.running('4 min', 0);
SELECT lockstep.run_cancel(pg_temp.run_of('A'), NULL, pg_temp.queue_name());
SELECT is(pg_temp.why('B'), 'run_stopping run_before_stopping task_running', 'behind one that is being cancelled');
SELECT pg_temp.begin('A0:100<0 A1:end(2,1)');
SELECT pg_temp.complete(0), lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT is(pg_temp.why('A'), 'run_incomplete', 'messages are lost: there is nothing to retry');
SELECT pg_temp.begin('A0:100<0 A1:end(1,1)');
SELECT pg_temp.fail(0), lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT lockstep.task_complete((pg_temp.task(0)).task_id);
SELECT is(pg_temp.why('A'), 'run_retryable', 'all that failed was declared done: a retry ends it as Completed');
SELECT pg_temp.begin('A0:100<0 A1:! A2:100<0 A3:end(3,1)');
SELECT pg_temp.complete(2), pg_temp.fail(0), lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT is(pg_temp.why('A'), 'run_incomplete run_retryable',
          'what was rejected is told before a retry, which goes on without it');
SELECT matches(pg_temp.said('run_incomplete', 'A'),
               'the first at offset 1: bad_json -> .*lockstep rejected list --queue', 'with the first of them');
SELECT is(pg_temp.answered(r.role, format('SELECT lockstep.explain_run(%s)', (pg_temp.run('A')).run_no)), 'answered',
          r.role || ' asks for a run that has ended')
FROM unnest('{lockstep_executor,lockstep_producer,lockstep_operator,lockstep_monitor}'::text[]) AS r (role);
SELECT pg_temp.begin('A0:100<0 A1:end(1,1)');
SELECT pg_temp.complete(0), lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT is(pg_temp.said('run_ended', 'A'), 'run ID000000000065 has ended, Completed -> Nothing has to be done.',
          'a run that completed');
INSERT INTO named VALUES ('run_ended');
SELECT pg_temp.begin('A0:100<0');
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, publish_acked_seq)
VALUES (pg_temp.run_of('B'), pg_temp.q(), 'stop', 'Publishing', -1);
SELECT is(pg_temp.why('B'), 'run_abandoned task_in_hand', 'nothing of it is claimed, its producer is gone');
-- Its producer was a redrive: no source is left from which a publish could continue it.
INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw, redrive_noted)
VALUES (pg_temp.q(), 7, 'bad_json', 'x', 'x', pg_temp.run_of('B'));
SELECT is(pg_temp.why('B'), 'run_abandoned_redrive task_in_hand', 'nor is the redrive that published it');
SELECT matches(pg_temp.said('run_abandoned_redrive', 'B'),
               'nothing of run ID000000000066 is claimed yet, and the redrive that published it is gone .*'
               ' -> To close it: lockstep run end ID000000000066\. Then redrive the messages again$',
               'the remedy of a redrive is no publish --resume');
UPDATE lockstep.rejected_message SET redrive_run = redrive_noted, redrive_noted = NULL WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why('B'), 'run_abandoned_redrive task_in_hand', 'nor when the redrive is noted as done');
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), %s)::text', 'producer', pg_temp.q()::text);
SELECT is(pg_temp.why('B'), 'run_publishing task_in_hand', 'nothing of it is claimed, its producer has not finished');
SELECT pg_temp.other('pg_advisory_unlock(lockstep.lock_class(%L), %s)::text', 'producer', pg_temp.q()::text);
UPDATE lockstep.run SET published_at = now() WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why('B'), 'run_unclaimed task_in_hand', 'nothing of it is claimed, though it is published');
-- Its records are before the cursor, or were beyond what is now the end of the log; or are still to come.
CREATE FUNCTION pg_temp.gone(log_end bigint, asked_at timestamptz DEFAULT clock_timestamp())
RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(regexp_replace(g.sentence, '^([a-z ]*) of run.*: it was', '\1: it was') || ' -> ' || g.helps,
                      '; ')
    FROM lockstep.explain_gone(pg_temp.q(), (pg_temp.run('B')).run_no, log_end, asked_at) AS g
$$;
UPDATE lockstep.run SET publish_acked_offset = 7 WHERE run_no = (pg_temp.run('B')).run_no;
SELECT is(pg_temp.why('B'), 'run_unclaimed task_in_hand', 'it is published behind the cursor');
SELECT is(pg_temp.gone(8), NULL, 'and there');
SELECT matches(pg_temp.gone(7),
    '^nothing: it was published up to offset 7, and the log of topic t ends at offset 7.* -> '
    'Publish its work again as another run\. To close this one: lockstep run cancel 0',
    'and gone');
SELECT is(pg_temp.gone(7, (SELECT r.published_at FROM pg_temp.run('B') AS r)), NULL,
          'not if it was published while the caller was about to look: that end of the log may be older');
UPDATE lockstep.queue SET next_offset = 8 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why('B'), 'run_records_gone task_in_hand', 'the cursor was set behind it');
SELECT matches(pg_temp.said('run_records_gone', 'B'),
    '^nothing of run ID000000000066 will be claimed: '
    'it was published up to offset 7, the queue''s cursor was set behind that, to offset 8 -> Publish',
    'which is said');
SELECT is((SELECT c.status FROM lockstep.run_cancel(pg_temp.run_of('B'), NULL, pg_temp.queue_name()) AS c),
          'Cancelled', 'and is closed');
UPDATE lockstep.queue SET next_offset = 1 WHERE queue_id = pg_temp.q();
SELECT lockstep.enqueue(pg_temp.queue_name(), ARRAY['{"order": 1, "sql": "SELECT 1"}'::jsonb]);
INSERT INTO named SELECT e.reason FROM lockstep.explain(NULL, (SELECT run_no FROM lockstep.enqueued), NULL) AS e;
SELECT is((SELECT count(*) FROM named WHERE reason = 'run_enqueued'), 1::bigint, 'enqueued, and not on the topic yet');
WITH e AS (DELETE FROM lockstep.enqueued RETURNING run_no) DELETE FROM lockstep.run r USING e WHERE e.run_no = r.run_no;
INSERT INTO lockstep.replay (queue_id, mode, from_offset, to_offset, cursor, reason)
VALUES (pg_temp.q(), 'all', 0, 1, 0, 'why');
UPDATE lockstep.run SET replay_id = (SELECT max(replay_id) FROM lockstep.replay)
WHERE run_no = (pg_temp.run('A')).run_no;
SELECT is(pg_temp.why('A'), 'run_replay task_in_hand', 'a replay is going over it');
SELECT matches(pg_temp.said('run_replay', 'A'),
    'replay \d+ is going over run ID.*lockstep replay --queue Q --resume \d+\. '
    '.*lockstep replay --queue Q --abandon \d+$',
    'which is named');

-- An enqueued run, which the relay has sent: its last record, the end, is at offset 6.
SELECT pg_temp.begin('');
CREATE TEMP TABLE sent AS
SELECT lockstep.enqueue(pg_temp.queue_name(), ARRAY['{"order": 1, "sql": "SELECT 1"}'::jsonb]) AS run;
SELECT is(lockstep.enqueue_sent(pg_temp.q(), ARRAY[s.run], 7), 1::bigint, 'it is on the topic') FROM sent s;
CREATE FUNCTION pg_temp.sent() RETURNS SETOF lockstep.explanation LANGUAGE sql AS $$
    SELECT e.* FROM sent s JOIN lockstep.run r ON r.run_id = s.run
    CROSS JOIN LATERAL lockstep.explain(p_run_no => r.run_no) AS e
$$;
UPDATE lockstep.queue SET next_offset = 6 WHERE queue_id = pg_temp.q();
SELECT is((SELECT string_agg(e.reason, ' ') FROM pg_temp.sent() AS e), 'run_unclaimed', 'and its end is still to come');
UPDATE lockstep.queue SET next_offset = 7 WHERE queue_id = pg_temp.q();
SELECT matches((SELECT string_agg(e.sentence || ' -> ' || e.helps, '; ') FROM pg_temp.sent() AS e),
    '^nothing of run [0-9a-f-]+ will be claimed: it was published up to offset 6, the queue''s cursor was ' ||
    'set behind that, to offset 7 -> Publish its work again as another run', 'its messages are lost');
SELECT matches(lockstep.claim_unknown_run(pg_temp.q(), 1, s.run, 1, 9),
    ', of which no message is claimed, but has seq 1', 'the halt does not deny that it is known') FROM sent s;
SELECT matches(lockstep.claim_unknown_run(pg_temp.q(), 1, gen_random_uuid(), 1, 9),
    ', of which nothing is known, but has seq 1', 'of another one nothing is known');

-- Something is always said: here all is done, and no producer has ended the run yet.
SELECT pg_temp.begin('A0:100<0 A1:end(1,1)');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.why('A'), 'nothing_waits', 'everything is finished, and its end is claimed');
SELECT matches(pg_temp.said('nothing_waits', 'A'),
               'nothing is waited for at this moment: run ID000000000065 is Running', 'which is said');

-- Where runs are concurrent, a run that an operator paused holds up no other one, and is named for none.
SELECT pg_temp.begin('A0:100<0 A1:200<100 B0:100<0 B1:200<100', runs => 'concurrent');
SELECT lockstep.run_pause(pg_temp.run_of('A'), NULL, pg_temp.queue_name());
SELECT is(pg_temp.why(), 'task_in_hand phase_before', 'of a queue the oldest run that is not paused is explained');
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, published_at)
VALUES (pg_temp.run_of('C'), pg_temp.q(), 'stop', 'Publishing', now());
SELECT is(pg_temp.why('C'), 'run_unclaimed task_in_hand phase_before', 'and of a run that is not claimed');
SELECT lockstep.run_pause(pg_temp.run_of('B'), NULL, pg_temp.queue_name());
SELECT is(pg_temp.why(), 'run_unclaimed', 'one that is not claimed comes before those that are paused');

-- Tasks.
SELECT pg_temp.begin('A0..1:100<0');
UPDATE lockstep.task SET max_attempts = 3 WHERE queue_id = pg_temp.q();
UPDATE lockstep.queue SET retry_intervals = '{3600}' WHERE queue_id = pg_temp.q();
SELECT pg_temp.fail(0);
SELECT is(pg_temp.why(number => 0), 'task_retry_later task_in_hand', 'its next attempt is due later');
SELECT matches(pg_temp.said('task_retry_later', number => 0),
    'attempt 1 of task T "name 0" of order 100 failed \(22012: division by zero\); '
    'the next one is due in 5[0-9] m [0-9]+ s, at ',
    'when, and why');
UPDATE lockstep.task SET executor_no = NULL, token = NULL, scheduled_for = now() + interval '1 day'
WHERE queue_id = pg_temp.q() AND kafka_offset = 1;
SELECT is(split_part(pg_temp.why(number => 1), ' ', 1), 'task_not_before', 'it may not start yet');
SELECT matches(pg_temp.said('task_not_before', number => 1),
    ' may start in 23 h 5[0-9] m, at .* -> Nothing has to be done: it starts then. '
    'To start it now: lockstep task retry \d+$',
    'what helps');
SELECT is((lockstep.task_retry((pg_temp.task(1)).task_id)), 'Pending', 'is taken as it is printed');
SELECT ok((pg_temp.task(1)).scheduled_for <= clock_timestamp(), 'and it is due');
UPDATE lockstep.task SET scheduled_for = NULL WHERE queue_id = pg_temp.q() AND kafka_offset = 1;
SELECT is(split_part(pg_temp.why(number => 1), ' ', 1), 'task_unowned', 'nobody has taken it');
UPDATE lockstep.task SET executor_no = 2 WHERE queue_id = pg_temp.q() AND kafka_offset = 1;
SELECT matches(pg_temp.said('task_unowned', number => 1),
               'was in the hands of executor ID000000000002 on host2 \(pid 102\), which is gone', 'nor taken it over');
UPDATE lockstep.task SET status = 'Paused' WHERE queue_id = pg_temp.q() AND kafka_offset = 1;
SELECT is(split_part(pg_temp.why(number => 1), ' ', 1), 'task_paused', 'it is held');
SELECT matches(pg_temp.said('task_paused', number => 1), 'To release it: lockstep task retry \d+\. ', 'what helps');
SELECT is(lockstep.task_retry((pg_temp.task(1)).task_id), 'Pending', 'is taken as it is printed');

-- External tasks.
SELECT pg_temp.begin('A0..1:100<0');
UPDATE lockstep.task SET type = 'external', executor_no = NULL, token = NULL, payload = '{"kind": "mail"}'
WHERE queue_id = pg_temp.q();
SELECT is(split_part(pg_temp.why(number => 0), ' ', 1), 'task_offered', 'no worker has asked for it');
SELECT matches(pg_temp.said('task_offered', number => 0),
    '^task T "name 0" of order 100 waits for a worker of kind mail to ask for it -> '
    'Start a worker that calls lockstep.next_task\(''Q''',
    'what helps names the queue');
UPDATE lockstep.task SET status = 'Processing', worker = 'host/7', started_at = now() - interval '2 min',
                         updated_at = now() - interval '1 min',
    lease_until = clock_timestamp() + interval '1 h', step = 'render'
WHERE queue_id = pg_temp.q() AND kafka_offset = 0;
SELECT is(split_part(pg_temp.why(number => 0), ' ', 1), 'task_with_worker', 'a worker has it');
SELECT matches(pg_temp.said('task_with_worker', number => 0),
    '^task T "name 0" of order 100 is with worker host/7 for 2 m [0-9]+ s, step render; '
    'its lease ends in (59 m 5[0-9] s|1 h 0 m)',
    'which is named, with its lease');
SELECT matches(pg_temp.said('task_offered', number => 1),
               'the last one seen in its phase was host/7, 1 m [0-9]+ s ago', 'so is the last one seen');
UPDATE lockstep.task SET lease_until = now() - interval '3 s' WHERE queue_id = pg_temp.q() AND kafka_offset = 0;
SELECT matches(pg_temp.said('task_with_worker', number => 0), 'its lease ran out [0-9]+ s ago', 'a lease that ran out');

-- Locks of phases, held by a session that is no executor's.
SELECT pg_temp.begin('A0:100<0 A1:200<100');
SELECT is(pg_temp.why('A'), 'task_in_hand phase_before', 'nobody holds them');
SELECT pg_temp.other('pg_advisory_lock_shared(1280507905, %s)::text', lockstep.phase_key(phase_id, 0)::text)
FROM lockstep.phase WHERE queue_id = pg_temp.q() AND "order" = 100;
SELECT is(pg_temp.why('A'), 'locks_taken task_in_hand phase_before', 'a session that is no executor''s does');
SELECT matches(pg_temp.said('locks_taken', 'A'),
    '^backend (\d+) holds locks that only executors take \(' || session_user ||
    '.*\), of order 100 of run ID000000000065: the phase behind it does not open while it holds them(: '
    'SELECT .*)? -> SELECT pg_terminate_backend\(\1\)\. What keeps others',
    'which is named, with the phase');
INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind)
SELECT 1, a.pid, a.backend_start, 'gate'
FROM dblink('other', 'SELECT pg_backend_pid()') AS o (pid int) JOIN pg_stat_activity a ON a.pid = o.pid;
SELECT is(pg_temp.why('A'), 'task_in_hand phase_before', 'not so an executor''s');
DELETE FROM lockstep.executor_session WHERE kind = 'gate';
SELECT pg_temp.other('pg_advisory_unlock_shared(1280507905, %s)::text', lockstep.phase_key(phase_id, 0)::text)
FROM lockstep.phase WHERE queue_id = pg_temp.q() AND "order" = 100;
SELECT pg_temp.other('pg_advisory_lock(1280507905, %s)::text',
                     lockstep.phase_key((SELECT max(phase_id) + 100 FROM lockstep.phase), 1)::text);
SELECT matches(pg_temp.said('locks_taken'),
               'holds locks that only executors take .*, of phases that are still to come', 'before the phase exists');
SELECT pg_temp.other('pg_advisory_unlock(1280507905, %s)::text',
                     lockstep.phase_key((SELECT max(phase_id) + 100 FROM lockstep.phase), 1)::text);

-- What no executor is able to do.
SELECT pg_temp.begin('A0..1:100<0');
SELECT lockstep.action_leave(pg_temp.q(), 1, ARRAY[(pg_temp.task(0)).task_id], ARRAY[(pg_temp.task(0)).token],
                             '{command:load}', '{t}');
SELECT is(split_part(pg_temp.why(number => 0), ' ', 1), 'task_nobody_able',
          'the only executor does not know the command');
SELECT matches(pg_temp.said('task_nobody_able', number => 0),
    '^task T "name 0" of order 100 needs command:load, which none of the executors of its queue \(1\) has in its '
    'configuration -> '
    'Add command:load to \[commands\] or \[http\] allow in the configuration of an executor, then: '
    'kill -HUP 101 \(on host1\)\. Or: lockstep task cancel \d+$',
    'which is named');
SELECT is((SELECT string_agg(detail, ';') FROM lockstep.event_log WHERE event = 'task_left' AND queue_id = pg_temp.q()),
    'command:load is not in the configuration of this executor: such tasks are left to others', 'and told');
UPDATE lockstep.executor SET unable = '{}' WHERE executor_no = 1;
SELECT is(split_part(pg_temp.why(number => 0), ' ', 1), 'task_unowned', 'one that may be able');
-- Of a task with steps: all that it needs is noted, so that no executor that lacks some of it takes it again.
SELECT lockstep.action_leave(pg_temp.q(), 1,
                             ARRAY[(pg_temp.task(1)).task_id, (pg_temp.task(1)).task_id, (pg_temp.task(1)).task_id],
    ARRAY[(pg_temp.task(1)).token, (pg_temp.task(1)).token, (pg_temp.task(1)).token],
    '{command:load,http:h:80,command:sort}', '{f,t,t}');
SELECT is(((pg_temp.task(1)).needs, (SELECT unable FROM lockstep.executor WHERE executor_no = 1))::text,
          '("{command:load,command:sort,http:h:80}","{command:sort,http:h:80}")',
    'what a task needs, and what of it the executor lacks');
SELECT matches(pg_temp.said('task_nobody_able', number => 1),
    'needs command:sort, http:h:80, which none of the executors of its queue \(1\) has, all of it, in its '
    'configuration -> Add command:sort, http:h:80 to',
    'what is lacking is told');
UPDATE lockstep.executor SET unable = '{command:else}' WHERE executor_no = 1;
SELECT is(split_part(pg_temp.why(number => 1), ' ', 1), 'task_unowned', 'one that lacks something else');
UPDATE lockstep.executor SET unable = '{}' WHERE executor_no = 1;

-- A task that waits for a lock: the session other is its reader, and waits for one that this session holds.
SELECT pg_temp.begin('A0:100<0');
SELECT NULL FROM dblink_exec('other', 'BEGIN');
INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind)
SELECT 1, a.pid, a.backend_start, 'reader'
FROM dblink('other', 'SELECT pg_backend_pid()') AS o (pid int) JOIN pg_stat_activity a ON a.pid = o.pid;
SELECT pg_advisory_xact_lock(77);
SELECT is(dblink_send_query('other', 'SELECT pg_advisory_xact_lock(77)'), 1, 'the reader waits');
DO $$
DECLARE
    tries int := 1000;
BEGIN
    WHILE NOT EXISTS (SELECT FROM pg_locks l JOIN lockstep.executor_session s USING (pid) WHERE NOT l.granted)
        AND tries > 0 LOOP
        PERFORM pg_sleep(0.01);
        tries := tries - 1;
    END LOOP;
END $$;
SELECT pg_stat_clear_snapshot();
UPDATE lockstep.task SET status = 'Processing', started_at = updated_at - interval '1 hour'
WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why(number => 0), 'task_running', 'a task whose session is not noted: nothing is said of locks');
SELECT unalike(pg_temp.said('task_running', number => 0), '%backend%', 'nor is a session guessed');
UPDATE lockstep.task SET backend_pid = 2147483647 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why(number => 0), 'task_running', 'one whose session is gone, which its executor will say');
UPDATE lockstep.executor
SET trouble = '4 of 4 readers: refused', trouble_kind = 'login', trouble_at = now() - interval '9 s'
WHERE executor_no = 1;
SELECT is(pg_temp.why(number => 0), 'task_lost_session', 'unless it can open no other one');
SELECT matches(pg_temp.said('task_lost_session', number => 0),
    'has lost its session \(backend 2147483647\), .* when executor ID000000000001 on host1 \(pid 101\) can open '
    'another one, which it cannot for [0-9]+ s: 4 of 4 readers: refused -> '
    'Let that login in .*, on host1: kill -TERM 101$',
    'and what helps');
UPDATE lockstep.executor SET trouble_kind = 'readers' WHERE executor_no = 1;
SELECT is(pg_temp.why(number => 0), 'task_lost_session', 'also when only some readers can open none');
UPDATE lockstep.executor SET trouble = NULL, trouble_kind = NULL WHERE executor_no = 1;
UPDATE lockstep.task
SET backend_pid = (SELECT pid FROM lockstep.executor_session WHERE kind = 'reader'), step = 'send'
WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why(number => 0), 'task_blocked task_running', 'a lock of another session comes first');
SELECT matches(pg_temp.said('task_blocked', number => 0),
               'task T "name 0" of order 100 waits for an advisory lock \(0, 77\) that backend ' ||
               pg_backend_pid() || ' holds \(' || session_user || '.*\): .*terminate_backend\(' || pg_backend_pid(),
               'which is named, with what it does');
SELECT matches(pg_temp.said('task_running', number => 0),
    'runs for 1 h 0 m, with step "send" on executor .* backend ' || pid, 'and so is the backend of the task')
FROM lockstep.executor_session WHERE kind = 'reader';

-- Each role that may ask gets an answer, though columns of tasks are hidden from them: of a phase that is open with a
-- task at work.
UPDATE lockstep.phase SET opened_at = clock_timestamp() WHERE queue_id = pg_temp.q() AND opened_at IS NULL;
SELECT is(pg_temp.answered(r.role, format(f.query, t.task_id, p.run_no, t.queue_id)), 'answered',
          r.role || ' asks ' || f.query)
FROM unnest('{lockstep_executor,lockstep_producer,lockstep_operator,lockstep_monitor}'::text[]) AS r (role),
    (VALUES ('SELECT count(*) FROM lockstep.explain_task(%1$s)'), ('SELECT count(*) FROM lockstep.explain_run(%2$s)'),
            ('SELECT count(*) FROM lockstep.explain_queue(%3$s)')) AS f (query),
    (SELECT * FROM lockstep.task t WHERE t.queue_id = pg_temp.q() ORDER BY t.task_id LIMIT 1) AS t
JOIN lockstep.phase p USING (phase_id);

UPDATE lockstep.task SET cancelled_by = 'u' WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.why(number => 0), 'task_blocked task_stopping', 'it is to be stopped');

-- A standby sees rows, and no locks.
CREATE OR REPLACE FUNCTION lockstep.explain_blind() RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT true $$;
SELECT is(pg_temp.why(), 'standby task_stopping', 'on a standby: said first, and nothing is said of executors');
SELECT matches(pg_temp.said('standby'), 'this server is a standby: .* -> Ask the primary', 'with what helps');

-- Behind SET ROLE the group is the one that reads, not the login. The remedy is followed literally.
CREATE ROLE "Who looks" IN ROLE lockstep_monitor;
SET LOCAL ROLE "Who looks";
SELECT set_config('hidden.reason', h.reason, true), set_config('hidden.hint', h.hint, true)
FROM lockstep.sessions_hidden() AS h \gset said_
RESET ROLE;
SELECT is(current_setting('hidden.reason'),
          'role "Who looks" may not see what the sessions of other roles do: their states and queries are hidden',
          'the role that looks is named');
SELECT is(current_setting('hidden.hint'), 'GRANT pg_read_all_stats TO "Who looks"', 'and what helps it');
DO $$ BEGIN EXECUTE current_setting('hidden.hint'); END $$;
SET LOCAL ROLE "Who looks";
SELECT set_config('hidden.rest', count(*)::text, true) AS rest FROM lockstep.sessions_hidden() \gset said_
RESET ROLE;
SELECT is(current_setting('hidden.rest'), '0', 'with it nothing is hidden');
-- tests/e2e/explain.sh, row_held.sh.
INSERT INTO named VALUES ('sessions_hidden'), ('task_blocked_prepared'), ('task_blocked_task'), ('row_held');

SELECT is((SELECT array_agg(w.reason) FROM lockstep.wait_reason w
           WHERE w.reason NOT IN (SELECT n.reason FROM named n)),
          NULL, 'every reason was made to happen');
SELECT is((SELECT array_agg(w.reason) FROM lockstep.wait_reason w WHERE w.helps = '' OR w.meaning = ''), NULL,
          'and says what helps');

SELECT * FROM finish();
ROLLBACK;
