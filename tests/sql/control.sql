-- What operators do to runs and tasks (sql/api/run_cancel.sql, run_pause.sql, run_resume.sql, run_retry.sql,
-- task_*.sql), as one of them: a login that is a member of lockstep_operator and nothing else. protocol.inc explains
-- how messages are written.
BEGIN;
SELECT plan(209);
\ir protocol.inc

INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
SELECT gen_random_uuid(), 'h', 1, 'v', 4, '{q}' FROM generate_series(1, 2);
SELECT is((SELECT array_agg(executor_no ORDER BY 1) FROM lockstep.executor), '{1,2}',
          'the claims here are of executor 1');
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), 1)::text', 'executor');

-- As an operator: SQLSTATE and message when it is refused, else the answer.
CREATE ROLE control_operator LOGIN;
GRANT lockstep_operator TO control_operator;
CREATE FUNCTION pg_temp.operator(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    SET LOCAL SESSION AUTHORIZATION control_operator;
    EXECUTE 'SELECT x::text FROM lockstep.' || command || ' AS x' INTO answer;
    RESET SESSION AUTHORIZATION;
    RETURN answer;
EXCEPTION WHEN OTHERS THEN
    RESET SESSION AUTHORIZATION;
    RETURN concat_ws(' ', SQLSTATE, regexp_replace(SQLERRM, '[0-9a-f-]{36}', 'A'));
END
$$;
CREATE FUNCTION pg_temp.queue_name()
RETURNS text LANGUAGE sql AS $$ SELECT name FROM lockstep.queue WHERE queue_id = pg_temp.q() $$;
CREATE FUNCTION pg_temp.on_run(verb text, letter text DEFAULT 'A', reason text DEFAULT 'why')
RETURNS text LANGUAGE sql AS $$
    SELECT pg_temp.operator(format('run_%s(%L, %L, %L)', verb, pg_temp.run_of(letter), reason, pg_temp.queue_name()))
$$;
CREATE FUNCTION pg_temp.on_task(verb text, number bigint, reason text DEFAULT 'why') RETURNS text LANGUAGE sql AS $$
    SELECT regexp_replace(pg_temp.operator(format('task_%s(%s, %L)', verb, (pg_temp.task(number)).task_id, reason)),
                          'task \d+', 'task N')
$$;
CREATE FUNCTION pg_temp.running(VARIADIC numbers bigint[]) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.task SET status = 'Processing', started_at = now()
    WHERE queue_id = pg_temp.q() AND kafka_offset = ANY (numbers)
$$;
CREATE FUNCTION pg_temp.lose(VARIADIC numbers bigint[]) RETURNS bigint LANGUAGE sql AS $$
    SELECT (lockstep.lose(pg_temp.q(), array_agg((t).task_id), array_agg((t).token), 'cut')).lost
    FROM unnest(numbers) AS n, pg_temp.task(n) AS t
$$;
CREATE FUNCTION pg_temp.facts(letter text DEFAULT 'A') RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', r.status, CASE WHEN r.ended_at IS NOT NULL THEN 'ended' END) FROM pg_temp.run(letter) AS r
$$;
CREATE FUNCTION pg_temp.events() RETURNS text LANGUAGE sql AS $$ -- of operators
    SELECT string_agg(event, ' ' ORDER BY event_id) FROM lockstep.event_log
    WHERE queue_id = pg_temp.q() AND actor = 'control_operator'
$$;
CREATE FUNCTION pg_temp.adopt() RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(a.kafka_offset || '#' || a.attempt_num, ' ' ORDER BY a.kafka_offset),
                    min(a.verdict) || coalesce(' ' || min(a.wait_ms), ''))
    FROM lockstep.adopt(pg_temp.q(), 2, 10, '{}') AS a
$$;

-- run cancel: nothing runs.
SELECT pg_temp.tell('A0:100<0 A1:100<0 A2:200<100');
CREATE TEMP TABLE held AS SELECT t.* FROM pg_temp.task(0) AS t;
SELECT is(pg_temp.on_run('cancel'), '(Cancelled,3,0)',
          'a run whose end is not known: its tasks are cancelled, and its end is not waited for');
SELECT is(pg_temp.statuses(), 'Cancelled Cancelled Cancelled', 'all of them');
SELECT is((t.token, t.executor_no, t.cancelled_by, t.error)::text,
          '(,,control_operator,"the run was cancelled by control_operator: why")', 'a task says who and why')
FROM pg_temp.task(0) AS t;
SELECT throws_ok(format('SELECT lockstep.complete(%s, %L)', task_id, token), 'LS001', NULL,
                 'its attempt can not be recorded any more')
FROM held;
SELECT is(pg_temp.events(), 'run_cancelled run_ended', 'the event log says who');
SELECT is((SELECT detail FROM lockstep.event_log WHERE event = 'run_cancelled' AND queue_id = pg_temp.q()),
          '3 tasks cancelled, 0 to be stopped: why', 'and what, and why');
SELECT is(pg_temp.on_run('cancel'), 'LS002 run A has ended: it is Cancelled', 'not twice');
SELECT is(pg_temp.tell(pg_temp.q(), 'A3..9:200<100 A10:300<200 A11:end(11,3)'), 'A:200x7~ A:300~ ended=Cancelled',
          'what is still on the topic is recorded as cancelled, and it ends');
SELECT is(pg_temp.facts() || ' ' || pg_temp.statuses(), 'Cancelled ended' || repeat(' Cancelled', 11), 'it stays so');
SELECT is((SELECT count(*) FROM lockstep.phase WHERE queue_id = pg_temp.q() AND done_at IS NULL), 0::bigint,
          'no phase is left');
SELECT is(pg_temp.on_run('cancel'), 'LS002 run A has ended: it is Cancelled', 'an ended run is refused');
SELECT is(pg_temp.on_run('pause'), 'LS002 run A has ended: it is Cancelled', 'so is a pause of it');
SELECT is(pg_temp.on_run('resume'), 'LS002 run A is not paused: it is Cancelled', 'and a resume');
SELECT is(pg_temp.operator($$run_cancel('00000000-0000-4000-8000-000000000000')$$), 'LS003 there is no run A',
          'an unknown run');
SELECT is(pg_temp.operator('run_cancel(NULL)'), 'LS003 there is no run without an id', 'NULL');
SELECT is(pg_temp.operator(format('run_cancel(%L)', pg_temp.run_of('A'))), 'LS002 run A has ended: it is Cancelled',
          'the queue need not be named when one has the run');

-- run retry of a cancelled one takes back the cancelling.
SELECT is(pg_temp.on_run('retry'), '(11,3,100)', 'all of it comes back');
SELECT is((r.status, r.stop_after, r.cancelled_by, r.error, r.ended_at)::text, '(Running,,,,)',
          'and nothing of the cancelling is left')
FROM pg_temp.run('A') AS r;
SELECT is((SELECT count(*) FROM lockstep.task
           WHERE queue_id = pg_temp.q() AND status = 'Pending' AND cancelled_by IS NULL AND error IS NULL),
          11::bigint, 'nor on its tasks');
SELECT is(pg_temp.adopt(), '0#1 1#1', 'its first phase is adopted, for a first attempt');
SELECT pg_temp.complete(0, 1);

-- A cancelled run whose last phase was open when it ended: a retry of an earlier phase closes it.
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 A1:200<100');
SELECT pg_temp.fail(0), (lockstep.gate((pg_temp.phase(200)).phase_id, 1)).verdict, pg_temp.complete(1);
SELECT is(pg_temp.on_run('cancel') || ' ' || pg_temp.on_run('retry'), '(Cancelled,0,0) (1,1,100)',
          'the failed task is tried again');
SELECT is(pg_temp.tell(pg_temp.q(), 'A2:200<100'), 'A:200-', 'its next message waits for that task');
SELECT is(pg_temp.adopt(), '0#2', 'which is adopted');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.tell(pg_temp.q(), 'A3:end(3,2)'), 'ended', 'the run has not ended: the last task is not finished');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 1)), 'opened', 'its phase opens again');
SELECT pg_temp.complete(2);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Completed', 'then it has');

-- run cancel: some of it runs.
SELECT pg_temp.tell('A0..2:100<0 A3:200<100 A4:end(4,2) B0:100<0');
SELECT pg_temp.running(0, 1);
SELECT is(pg_temp.on_run('cancel'), '(Running,2,2)', 'what runs is to be stopped');
SELECT is(pg_temp.on_run('cancel'), 'LS002 run A is being cancelled already, by control_operator', 'not twice');
SELECT is(pg_temp.on_run('end'), 'LS002 run A is being cancelled already, by control_operator',
          'nor is it ended by hand');
SELECT is(pg_temp.on_run('retry'),
          'LS002 run A is being cancelled, by control_operator: it can be retried when that has ended',
          'no retry before its end');
SELECT is(pg_temp.on_run('pause'), 'LS002 run A is being cancelled, by control_operator', 'nor a pause');
SELECT is(pg_temp.on_task('retry', 0), 'LS002 task N: its run is being cancelled', 'nor a retry of a task');
SELECT is(pg_temp.statuses(), 'Processing Processing Cancelled Cancelled Pending', 'by its executor');
SELECT is(pg_temp.adopt(), 'none', 'nobody takes over what runs');
SELECT pg_temp.complete(0);
SELECT is((pg_temp.task(0)).status::text, 'Completed', 'an attempt that was quicker is Completed');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(100, 'B')).phase_id, 1)), 'run',
          'the next run waits as long as a task runs');
SELECT is(pg_temp.lose(1), 0::bigint, 'its executor has cancelled the statement: it is not lost');
SELECT is((t.status, t.token, t.lost_num, t.attempt_num, t.error)::text,
          '(Terminated,,0,1,"the run was cancelled by control_operator: why")', 'it is Terminated')
FROM pg_temp.task(1) AS t;
SELECT is((SELECT (attempt, status, error)::text FROM lockstep.task_attempt WHERE task_id = (pg_temp.task(1)).task_id),
          '(1,Terminated,"the run was cancelled by control_operator: why")', 'and so is its attempt');
SELECT lockstep.release((pg_temp.phase(100)).phase_id, true);
SELECT is(pg_temp.facts(), 'Cancelled ended', 'the executor that releases the phase ends the run');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(100, 'B')).phase_id, 1)), 'opened',
          'then the next one opens');

-- ... and its executor died, or its attempt failed by itself.
SELECT pg_temp.tell('A0..1:100<0 A2:end(2,1)');
SELECT pg_temp.running(0, 1);
UPDATE lockstep.task SET executor_no = 7 WHERE queue_id = pg_temp.q() AND kafka_offset = 0;
SELECT is(pg_temp.on_run('cancel'), '(Running,1,1)', 'a task of a dead executor is stopped already');
SELECT is(pg_temp.statuses(), 'Terminated Processing', 'it is Terminated');
UPDATE lockstep.task SET max_attempts = 3 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.fail(1), 'Error', 'the other one fails by itself before it is stopped');
SELECT is(pg_temp.adopt(), 'none', 'it gets no further attempt');
SELECT is(lockstep.give_up(pg_temp.q()), 1::bigint, 'whoever looks for work ends it');
SELECT is(pg_temp.statuses() || ' ' || pg_temp.facts(), 'Terminated Cancelled Cancelled ended', 'and with it the run');
SELECT pg_temp.tell('A0:100<0 A1:end(1,1)');
SELECT pg_temp.running(0);
SELECT pg_temp.on_run('cancel');
UPDATE lockstep.task SET executor_no = 7 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.adopt() || ' ' || lockstep.give_up(pg_temp.q()), 'none 1',
          'its executor dies afterwards: it is not adopted, but ended');
SELECT is(pg_temp.statuses() || ' ' || pg_temp.facts(), 'Terminated Cancelled ended', 'as Terminated');
SELECT pg_temp.tell('A0:100<0 A1:end(1,1)');
SELECT pg_temp.running(0);
SELECT pg_temp.on_run('cancel');
SELECT pg_temp.complete(0);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Completed',
          'a run of which all was done before it could be stopped is Completed');

-- Before it has begun.
CREATE FUNCTION pg_temp.publish(letter text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO lockstep.run (run_id, queue_id, on_failure, status)
    VALUES (pg_temp.run_of(letter), pg_temp.q(), 'stop', 'Publishing')
$$;
SELECT pg_temp.queue();
SELECT pg_temp.publish('A');
SELECT is(pg_temp.on_run('cancel'), '(Cancelled,0,0)', 'a run of which nothing is claimed');
SELECT is(pg_temp.tell(pg_temp.q(), 'A0..1:100<0 A2:200<100 A3:end(3,2)'), 'A:100x2~ A:200~ ended=Cancelled',
          'is cancelled as it is claimed');
SELECT is((r.error, r.cancelled_by)::text, '("cancelled by control_operator: why",control_operator)',
          'and knows by whom')
FROM pg_temp.run('A') AS r;
SELECT pg_temp.queue();
SELECT pg_temp.publish('A');
SELECT is(pg_temp.on_run('pause'), 'Publishing', 'it may be held, too');
SELECT is(pg_temp.tell(pg_temp.q(), 'A0:100<0') || ' ' || pg_temp.facts(), 'A:100- Paused',
          'and is when it begins: the claim does not open its first phase');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(100)).phase_id, 1)), 'paused', 'nor does its gate');
SELECT is(pg_temp.on_run('resume'), 'Running', 'until it is resumed');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(100)).phase_id, 1)), 'opened', 'then its gate opens it');

-- run cancel and run end of a run without an end.
SELECT is(pg_temp.tell('A0..1:100<0 B0:100<0'), 'A:100x2+ B:100-', 'its producer stops, the next run waits');
SELECT pg_temp.running(0), pg_temp.complete(1);
SELECT is(pg_temp.on_run('cancel'), '(Running,0,1)', 'cancelled while it runs');
SELECT lockstep.lose(pg_temp.q(), ARRAY[(pg_temp.task(0)).task_id], ARRAY[(pg_temp.task(0)).token], 'cut'),
       lockstep.release((pg_temp.phase(100)).phase_id, true);
SELECT is(pg_temp.facts(), 'Cancelled ended', 'it ends with its last task');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(100, 'B')).phase_id, 1)), 'opened', 'the next one goes on');
SELECT is(pg_temp.tell(pg_temp.q(), 'A2:200<100 A3:abort'), 'A:200~ ended=Cancelled',
          'what comes of it all the same is recorded as cancelled');
SELECT pg_temp.tell('A0:100<0');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.on_run('cancel') || ' ' || pg_temp.facts(), '(Cancelled,0,0) Cancelled ended',
          'though all that came of it was done');
SELECT is(pg_temp.tell('100<0 A0:100<0'), 'i1:100+ A:100-', 'the implicit run');
CREATE FUNCTION pg_temp.on_implicit(verb text) RETURNS text LANGUAGE sql AS $$
    SELECT pg_temp.operator(format('run_%s(%L, NULL, %L)', verb, run_id, pg_temp.queue_name())) FROM lockstep.run
    WHERE queue_id = pg_temp.q() AND implicit ORDER BY run_no DESC LIMIT 1
$$;
SELECT pg_temp.complete(0);
SELECT is(pg_temp.on_implicit('cancel'), '(Cancelled,0,0)', 'is Cancelled, too');
SELECT is(pg_temp.tell(pg_temp.q(), '200<100 end'), 'i1:200~ ended=Cancelled', 'and stays so');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(100)).phase_id, 1)), 'opened', 'the next one goes on');
SELECT pg_temp.tell('100<0');
SELECT pg_temp.complete(0), pg_temp.on_implicit('cancel');
SELECT is(pg_temp.tell(pg_temp.q(), '100<0 200<0'), 'i1:100~ i2:200+',
          'a message that continues its first phase is recorded as cancelled, another one begins the next run');

SELECT pg_temp.tell('A0:100<0 A1:200<100 B0:100<0 B1:end(1,1)');
SELECT is(pg_temp.on_run('end', 'A', 'its host is gone'), '(Running,1)',
          'an operator ends a run: what is open of it finishes');
SELECT is(pg_temp.statuses(), 'Pending Cancelled Pending', 'what is not is cancelled');
SELECT is(pg_temp.on_run('end'), 'LS002 run A has its end already: it ends when its tasks are finished', 'once');
SELECT is(pg_temp.on_run('end', 'B'), 'LS002 run A has its end already: it ends when its tasks are finished',
          'not a run that has its end');
SELECT is(pg_temp.tell(pg_temp.q(), 'A2:200<100 A3:end(3,2)'), 'late late', 'what comes later is rejected');
SELECT is((SELECT detail FROM lockstep.rejected_message WHERE queue_id = pg_temp.q() ORDER BY kafka_offset LIMIT 1),
          'the run was ended by control_operator, before offset 4', 'and says by whom');
SELECT pg_temp.complete(0);
SELECT lockstep.release((pg_temp.phase(100)).phase_id, true);
SELECT is(pg_temp.facts(), 'Failed ended', 'it ends as Failed');
SELECT is((r.error, r.aborted, r.rejected)::text,
          '("ended by control_operator, its end had not come: its host is gone",t,0)', 'as aborted, with who and why')
FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.events(), 'run_stopped run_closed', 'the event log says who');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(100, 'B')).phase_id, 1)), 'opened', 'the next one goes on');
SELECT is(pg_temp.on_run('end'), 'LS002 run A has ended: it is Failed', 'an ended run is refused');
SELECT is(pg_temp.tell('100<0 A0:100<0 A1:end(1,1)'), 'i1:100+ A:100- ended', 'an implicit run');
SELECT is(pg_temp.on_implicit('end'), '(Running,1)', 'ends as by an end message');
SELECT pg_temp.complete(0);
SELECT lockstep.release((SELECT min(phase_id) FROM lockstep.phase WHERE queue_id = pg_temp.q()), true);
SELECT is((SELECT string_agg(status, ' ' ORDER BY run_no) FROM lockstep.run WHERE queue_id = pg_temp.q()),
          'Completed Running', 'so it is Completed');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(100)).phase_id, 1)), 'opened', 'the next one goes on');
SELECT is(pg_temp.tell(pg_temp.q(), '200<100 100<0'), 'hole i2:100-',
          'what goes on with it is rejected, another begins');
SELECT pg_temp.queue();
SELECT pg_temp.publish('A');
UPDATE lockstep.run SET publish_acked_seq = 2, publish_acked_offset = 2 WHERE queue_id = pg_temp.q();
SELECT pg_temp.other('pg_advisory_lock(lockstep.lock_class(%L), %s)::text', 'producer', pg_temp.q()::text);
SELECT matches(pg_temp.on_run('end'), '^LS002 run A is being published, by \w+ \(backend \d+\)$',
               'not while its producer lives');
SELECT pg_temp.other('pg_advisory_unlock(lockstep.lock_class(%L), %s)::text', 'producer', pg_temp.q()::text);
SELECT is(pg_temp.on_run('end'), '(Cancelled,0)', 'of which nothing is claimed is Cancelled');
SELECT is(pg_temp.tell(pg_temp.q(), 'A0:100<0') || ' ' || pg_temp.facts(), 'A:100~ Cancelled ended', 'and stays so');
SELECT pg_temp.tell('A0:100<0');
UPDATE lockstep.run SET publish_acked_seq = 2, publish_acked_offset = 2, published_at = now()
WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.on_run('end'), 'LS002 run A is published whole: its end is at offset 2, the queue''s cursor at 1',
          'not one whose end is on the topic');
UPDATE lockstep.run SET publish_acked_offset = 0 WHERE queue_id = pg_temp.q();
SELECT is(pg_temp.on_run('end'), '(Running,1)', 'unless the cursor is past that');
SELECT pg_temp.tell('A0:100<0');
SELECT pg_temp.on_run('pause');
SELECT is(pg_temp.on_run('end'), 'LS002 run A is paused', 'nor one that is held');
SELECT is((SELECT string_agg(rolname, ' ') FROM pg_roles
           WHERE rolname LIKE 'lockstep\_%' AND NOT rolsuper AND rolname <> 'lockstep_owner'
           AND has_function_privilege(rolname, 'lockstep.run_end(uuid, text, text)', 'EXECUTE')), 'lockstep_operator',
          'only an operator may');

-- pause and resume.
SELECT pg_temp.tell('A0..1:100<0 A2:200<100 A3:end(3,2)');
SELECT is(pg_temp.on_run('pause'), 'Paused', 'a run is held');
SELECT matches(pg_temp.on_run('pause'), 'LS002 run A is paused already, by control_operator, since', 'once');
SELECT is(lockstep.give_back(pg_temp.q(), ARRAY[(pg_temp.task(1)).task_id], ARRAY[(pg_temp.task(1)).token]),
          1::bigint, 'its executor gives back what it has not started');
SELECT is(pg_temp.adopt(), 'none', 'and nobody takes it, nor is there a time to wait for');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 1)), 'paused', 'its gate sleeps');
SELECT pg_temp.complete(0);
SELECT is(pg_temp.on_run('retry'), 'LS002 run A: nothing of it failed or was cancelled for a failure; it is Paused',
          'there is nothing to retry');
SELECT is(pg_temp.on_run('resume'), 'Running', 'resumed');
SELECT is(pg_temp.on_run('resume'), 'LS002 run A is not paused: it is Running', 'once');
SELECT is(pg_temp.adopt(), '1#1', 'it goes on');
SELECT is(pg_temp.events(), 'run_paused run_resumed', 'the event log says who');
SELECT pg_temp.on_run('pause');
SELECT is(pg_temp.on_run('cancel'), '(Cancelled,2,0)', 'a paused run can be cancelled');
SELECT is(pg_temp.facts() || ' ' || pg_temp.on_run('resume'),
          'Cancelled ended LS002 run A is not paused: it is Cancelled', 'and has ended');

-- The policy pause: resume continues without the failed tasks, retry tries it again.
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'pause'), 'A0..1:100<0 A2:200<100 A3:end(3,2)');
SELECT pg_temp.fail(0), pg_temp.complete(1);
SELECT is((r.status, r.paused_by, r.paused_at IS NOT NULL)::text, '(Paused,,t)', 'paused by the policy')
FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.on_run('retry'), '(1,1,100)', 'the failed task is tried again');
SELECT is(pg_temp.facts() || ' ' || pg_temp.statuses(), 'Running Pending Completed Pending', 'and the run goes on');
SELECT is(pg_temp.adopt(), '0#2', 'with a second attempt');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.facts() || ' ' || pg_temp.on_run('resume'), 'Paused Running', 'it may also go on without it');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 1)), 'opened', 'the next phase opens');
SELECT pg_temp.complete(2);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'PartiallyCompleted', 'what failed stays failed');
SELECT is(pg_temp.on_run('retry') || ' ' || pg_temp.statuses(), '(1,1,100) Pending Completed Completed',
          'and can be tried again after the end');

-- A failure while an operator holds the run: the pause of the policy holds when that of the operator has ended.
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'pause'), 'A0..1:100<0 A2:200<100 A3:end(3,2)');
SELECT pg_temp.on_run('pause');
SELECT pg_temp.fail(0), pg_temp.complete(1);
SELECT matches((SELECT r.error FROM pg_temp.run('A') AS r), 'failed: division by zero$',
               'a failure of a held run is kept');
SELECT ok(lockstep.run_failed_before((pg_temp.run('A')).run_no, 200), 'and tasks that run after a failure see it');
SELECT is((SELECT string_agg(e.reason, ' ') FROM pg_temp.run('A') AS r
           CROSS JOIN lockstep.explain_run_stopped(r, 'A', '{}') AS e), 'run_paused run_paused_by_failure',
          'both are named');
SELECT is((SELECT string_agg(e.sentence, '; ') FROM pg_temp.run('A') AS r
           CROSS JOIN lockstep.explain_run_stopped(r, 'A', '{}') AS e WHERE e.reason = 'run_paused'),
          'A is paused by control_operator: why', 'the operator with his own reason');
SELECT is(pg_temp.on_run('resume'), 'Paused', 'a resume ends the pause of the operator');
SELECT is((r.status, r.paused_by, r.paused_at = r.failure_at)::text, '(Paused,,t)', 'that of the policy holds')
FROM pg_temp.run('A') AS r;
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 1)), 'paused', 'no later phase opens');
SELECT is(pg_temp.on_run('resume'), 'Running', 'the next resume decides');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 1)), 'opened', 'and the next phase opens');
SELECT pg_temp.tell(pg_temp.q(), 'B0..1:100<0 B2:200<100 B3:end(3,2)');
SELECT pg_temp.on_run('pause', 'B');
SELECT is(pg_temp.on_task('fail', 5) || ' ' || pg_temp.on_run('resume', 'B'), 'Failed Paused',
          'a task that is declared failed meanwhile counts as well');
SELECT is(pg_temp.on_run('pause', 'B') || ' ' || pg_temp.on_run('resume', 'B'), 'Paused Paused',
          'and a pause of an operator after that of the policy');
SELECT pg_temp.on_run('pause', 'B');
SELECT is(pg_temp.on_run('retry', 'B') || ' ' || pg_temp.facts('B'), '(1,1,100) Running', 'a retry ends both');
SELECT is(pg_temp.on_run('pause', 'B') || ' ' || pg_temp.on_task('cancel', 5) || ' ' || pg_temp.on_run('resume', 'B'),
          'Paused Cancelled Paused', 'so does a task that is cancelled');
SELECT is(pg_temp.on_run('cancel', 'B') || ' ' || (SELECT (r.failure_at IS NULL)::text FROM pg_temp.run('B') AS r),
          '(Cancelled,2,0) true', 'a cancellation ends it');

-- Retry of a run that stopped.
SELECT pg_temp.tell('A0..1:100<0 A2:200<100 A3:300<200 A4:end(4,3)');
SELECT is(pg_temp.on_run('retry'), 'LS002 run A has not ended: it is Running', 'a running run is refused');
SELECT pg_temp.fail(0);
SELECT is(pg_temp.on_run('retry'), 'LS002 run A has not ended: it is Running', 'also when it is only ending');
SELECT pg_temp.complete(1);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Failed', 'it has failed');
SELECT is(pg_temp.on_run('retry'), '(3,3,100)', 'the failed task and what was cancelled for it');
SELECT is(pg_temp.statuses() || ' ' || pg_temp.facts(), 'Pending Completed Pending Pending Running',
          'from the failed phase on');
SELECT is((SELECT array_agg(opened_at IS NOT NULL ORDER BY "order") FROM lockstep.phase WHERE queue_id = pg_temp.q()),
          '{t,f,f}', 'in order');
SELECT is(pg_temp.adopt(), '0#2', 'first the failed one');
SELECT pg_temp.complete(0);
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 1)), 'opened', 'then the next phase');
SELECT pg_temp.tell('A0:100<0 A1:200<100 A2:end(2,2)');
SELECT pg_temp.fail(0), lockstep.run_finish((pg_temp.run('A')).run_no), pg_temp.on_task('complete', 0);
SELECT is(pg_temp.on_run('retry'), '(1,1,200)', 'what failed was declared done: the retry goes on behind it');
SELECT is((r.status, r.stop_after, r.error)::text, '(Running,,)', 'and it is no failed run any more')
FROM pg_temp.run('A') AS r;
UPDATE lockstep.task SET token = gen_random_uuid() WHERE task_id = (pg_temp.task(1)).task_id;
SELECT pg_temp.complete(1);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Completed', 'when the rest is done, it is Completed');
SELECT pg_temp.tell('A0:100<0 A1:100<0 A2:end(2,1)');
SELECT pg_temp.fail(0), pg_temp.complete(1), lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT pg_temp.on_task('complete', 0);
SELECT is(pg_temp.on_run('retry'), '(0,0,)', 'nothing is behind what was declared done: nothing is retried');
SELECT is((r.status, r.stop_after, r.error, r.ended_at IS NOT NULL)::text, '(Completed,,,t)',
          'and it is Completed at once')
FROM pg_temp.run('A') AS r;
SELECT pg_temp.tell('A0:100<0 A1:200<100');
SELECT pg_temp.fail(0), pg_temp.on_run('cancel'), pg_temp.on_task('complete', 0);
SELECT is(pg_temp.on_run('retry') || ' ' || pg_temp.tell(pg_temp.q(), 'A2:300<200 A3:end(3,3)'),
          '(1,1,200) A:300- ended', 'a run that was cancelled after that failure continues after it, too');
SELECT pg_temp.tell('A0..1:100<0 A2:end(2,1)');
SELECT pg_temp.fail(0), pg_temp.fail(1), lockstep.run_finish((pg_temp.run('A')).run_no), pg_temp.on_task('retry', 0);
SELECT pg_temp.adopt(), pg_temp.complete(0);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Failed', 'one of two failed tasks is done now');
SELECT is(pg_temp.on_task('complete', 1) || ' ' || pg_temp.on_run('retry') || ' ' || pg_temp.facts(),
          'Completed (0,0,) Completed ended', 'the other one is declared done: no stop is left to be lifted');
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0..1:100<0 A2:200<100 A3:end(3,2)');
SELECT pg_temp.fail(0), pg_temp.complete(1), lockstep.gate((pg_temp.phase(200)).phase_id, 1), pg_temp.complete(2);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'PartiallyCompleted', 'under continue there was none');
SELECT is(pg_temp.on_task('complete', 0) || ' ' || pg_temp.on_run('retry') || ' ' || pg_temp.facts(),
          'Completed (0,0,) Completed ended', 'and it is Completed, too');
SELECT is(pg_temp.on_run('retry'),
    'LS002 run A: nothing of it failed or was cancelled for a failure; it is Completed', 'once');
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 A1:! A2:end(2,1)');
SELECT pg_temp.complete(0), lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT matches(pg_temp.on_run('retry') || ' ' || pg_temp.facts(),
               '^LS002 .*; it is PartiallyCompleted: .* PartiallyCompleted ended$',
               'a message that was rejected cannot be declared done');
SELECT pg_temp.tell('A0:100<0 A1:end(2,1)');
SELECT pg_temp.complete(0), lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT matches(pg_temp.on_run('retry') || ' ' || pg_temp.facts(), '^LS002 .*; it is Failed: .* Failed ended$',
               'nor one that is missing');
-- What is declared done has made the attempts that it has made, and no other.
CREATE FUNCTION pg_temp.log() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(l.seq || '#' || l.attempt || ' ' || l.status || COALESCE(' ' || l.worker, ''), ', '
                      ORDER BY l.seq, l.attempt, l.status)
    FROM lockstep.execution_log l WHERE l.run_id = pg_temp.run_of('A') AND l.queue = pg_temp.queue_name()
$$;
CREATE FUNCTION pg_temp.bars() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(b ->> 'attempt' || ' ' || (b ->> 'status'), ', ' ORDER BY n)
    FROM jsonb_array_elements(lockstep.run_gantt((pg_temp.run('A')).run_no)::jsonb #> '{phases,0,bars}')
         WITH ORDINALITY AS b (b, n)
    WHERE b ->> 'start_s' IS NOT NULL
$$;
SELECT pg_temp.tell('A0..2:100<0 A3:end(3,1)');
UPDATE lockstep.queue SET on_failure = 'continue' WHERE queue_id = pg_temp.q();
UPDATE lockstep.run SET on_failure = 'continue' WHERE queue_id = pg_temp.q();
UPDATE lockstep.task SET max_attempts = 2 WHERE queue_id = pg_temp.q() AND kafka_offset = 0;
SELECT pg_temp.fail(0), pg_temp.fail(1), pg_temp.on_task('cancel', 2), pg_temp.on_task('retry', 0);
SELECT is(pg_temp.adopt() || ' ' || pg_temp.fail(0), '0#2 Failed', 'two attempts of one task, one of another');
SELECT is(pg_temp.on_task('complete', 0) || ' ' || pg_temp.on_task('complete', 1) || ' ' ||
          pg_temp.on_task('complete', 2), 'Completed Completed Completed', 'all three are declared done');
SELECT is(pg_temp.log(), '0#1 Error, 0#2 Failed, 1#1 Failed', 'the log of executions has each attempt once');
SELECT is(pg_temp.bars(), '1 Error, 2 Failed, 1 Failed', 'and so has the picture of the run');
SELECT is((SELECT count(*) FROM lockstep.event_log WHERE queue_id = pg_temp.q() AND event = 'task_completed'),
          3::bigint, 'the log of events has who did it');
SELECT (lockstep.reopen((pg_temp.phase(100)).phase_id, ARRAY(SELECT t.task_id FROM lockstep.task t
                                                             WHERE t.queue_id = pg_temp.q()), 'a test')).reopened;
SELECT is(pg_temp.adopt(), '0#3 1#2 2#1', 'a replay continues behind the attempts that were made');
SELECT is(pg_temp.log(), '0#1 Error, 0#2 Failed, 1#1 Failed', 'and invents none');

SELECT pg_temp.tell('A0:100<0 A1:end(1,1)');
SELECT pg_temp.complete(0), lockstep.run_finish((pg_temp.run('A')).run_no);
SELECT is(pg_temp.on_run('retry'),
    'LS002 run A: nothing of it failed or was cancelled for a failure; it is Completed', 'a completed run is refused');

-- task cancel: a failure, for the run.
SELECT pg_temp.tell('A0..1:100<0 A2:200<100 A3:end(3,2)');
SELECT is(pg_temp.on_task('cancel', 0), 'Cancelled', 'a task that is not running');
SELECT is(pg_temp.statuses(), 'Cancelled Pending Cancelled', 'stop: the later phases are cancelled');
SELECT is((r.error ~ '^task \d+ of order 100 was cancelled by control_operator: why$'), true, 'the run says for what')
FROM pg_temp.run('A') AS r;
SELECT is(pg_temp.on_task('cancel', 0), 'LS002 task N is finished: it is Cancelled', 'once');
SELECT pg_temp.running(1);
SELECT is(pg_temp.on_task('cancel', 1), 'Processing', 'one that runs is to be stopped');
SELECT is(pg_temp.on_task('cancel', 1), 'LS002 task N is being stopped already, for control_operator', 'once');
SELECT is(pg_temp.on_task('complete', 1), 'LS002 task N is running', 'and cannot be declared done');
SELECT is(pg_temp.on_task('fail', 1), 'LS002 task N is running', 'nor failed');
SELECT pg_temp.lose(1);
SELECT is((pg_temp.task(1)).status::text, 'Terminated', 'its statement was cancelled: Terminated');
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'Failed', 'the run has failed');
SELECT is(pg_temp.on_run('retry') || ' ' || pg_temp.statuses(), '(3,2,100) Pending Pending Pending',
          'its retry takes up what was cancelled, too');
SELECT pg_temp.tell(pg_temp.queue(on_failure => 'continue'), 'A0:100<0 A1:200<100 A2:end(2,2)');
SELECT is(pg_temp.on_task('cancel', 0), 'Cancelled', 'under continue');
SELECT is((SELECT verdict FROM lockstep.gate((pg_temp.phase(200)).phase_id, 1)), 'opened', 'the next phase opens');
SELECT pg_temp.complete(1);
SELECT is(lockstep.run_finish((pg_temp.run('A')).run_no), 'PartiallyCompleted', 'and it is PartiallyCompleted');
SELECT pg_temp.tell('A0:100<0 A1:end(1,1)');
SELECT is(pg_temp.on_task('cancel', 0) || ' ' || pg_temp.facts(), 'Cancelled Failed ended',
          'the last task of a run ends it');

-- task retry, complete, fail.
SELECT is(pg_temp.on_task('retry', 0) || ' ' || pg_temp.facts(), 'Pending Running', 'a retry takes the run up again');
SELECT is(pg_temp.on_task('retry', 0), 'LS002 task N has not failed: it is Pending', 'of what is finished only');
SELECT is(pg_temp.on_task('complete', 0) || ' ' || pg_temp.facts(), 'Completed Completed ended', 'declared done');
SELECT is((pg_temp.task(0)).response, 'declared done by control_operator: why', 'the task says by whom');
SELECT is(pg_temp.on_task('complete', 0), 'LS002 task N cannot be declared done: it is Completed', 'once');
SELECT is(pg_temp.on_task('fail', 0), 'LS002 task N cannot be declared failed: it is Completed',
          'what is done has not failed');
SELECT is(pg_temp.on_task('cancel', 0), 'LS002 task N is finished: it is Completed', 'nor can it be cancelled');
SELECT is(pg_temp.on_task('retry', 0), 'LS002 task N has not failed: it is Completed', 'nor retried');
SELECT is(pg_temp.operator('task_cancel(0)') || ', ' || pg_temp.operator('task_retry(NULL)'),
          'LS003 there is no task 0, LS003 there is no task without a number', 'unknown tasks');
SELECT pg_temp.tell('A0..1:100<0 A2:200<100');
SELECT is(pg_temp.on_task('fail', 0) || ' ' || pg_temp.statuses(), 'Failed Failed Pending Cancelled',
          'declared failed: the policy decides');
SELECT is((SELECT (attempt, status, error)::text FROM lockstep.task_attempt
           WHERE task_id = (pg_temp.task(0)).task_id),
          '(1,Failed,"declared failed by control_operator: why")', 'the attempt says by whom');
SELECT pg_temp.tell('A0:100<0');
SELECT pg_temp.running(0), pg_temp.lose(0), pg_temp.on_task('fail', 0);
SELECT is((SELECT array_agg((attempt, status, started_at IS NOT NULL)::text ORDER BY attempt) FROM lockstep.task_attempt
           WHERE task_id = (pg_temp.task(0)).task_id),
          '{"(1,Pending,t)","(2,Failed,f)"}', 'one that has not begun has no start');
SELECT pg_temp.tell('A0..1:100<0 A2:200<100');
SELECT pg_temp.on_task('fail', 0);
UPDATE lockstep.task SET max_attempts = 3 WHERE queue_id = pg_temp.q();
UPDATE lockstep.queue SET retry_intervals = '{3600}' WHERE queue_id = pg_temp.q();
SELECT pg_temp.fail(1);
SELECT is(pg_temp.on_task('retry', 1) || ' ' || pg_temp.adopt(), 'Error 1#2',
          'one that waits for its next attempt is tried now');
SELECT pg_temp.lose(1);
SELECT is(pg_temp.events(), 'task_failed run_stopped task_retried', 'the event log says who');
SELECT pg_temp.tell('A0..1:100<0');
UPDATE lockstep.task SET max_attempts = 3 WHERE queue_id = pg_temp.q();
UPDATE lockstep.task SET status = 'Paused' WHERE queue_id = pg_temp.q() AND kafka_offset = 0;
SELECT pg_temp.fail(1);
UPDATE lockstep.task SET status = 'Paused' WHERE queue_id = pg_temp.q() AND kafka_offset = 1;
SELECT is(pg_temp.on_task('fail', 0) || ', ' || pg_temp.on_task('complete', 0),
          'LS002 task N cannot be declared failed: it is Paused, LS002 task N cannot be declared done: it is Paused',
          'one that is held is released first');
SELECT is(pg_temp.on_task('retry', 0) || ' ' || pg_temp.on_task('retry', 1) || ' ' || pg_temp.adopt(),
          'Pending Pending 0#1 1#2', 'by a retry: an attempt that was made before counts');

-- A retry of a task that was cancelled between two attempts begins a new series of them, too.
SELECT pg_temp.tell('A0:100<0');
UPDATE lockstep.task SET max_attempts = 3 WHERE queue_id = pg_temp.q();
UPDATE lockstep.queue SET retry_intervals = '{10,1000}', max_attempts = 3 WHERE queue_id = pg_temp.q();
CREATE FUNCTION pg_temp.fails() RETURNS text LANGUAGE sql AS $$
    SELECT pg_temp.fail(0);
    SELECT t.attempt_num || '/' || t.max_attempts || ' +' || round(extract(epoch FROM t.scheduled_for - t.updated_at))
    FROM pg_temp.task(0) AS t
$$;
SELECT is(pg_temp.fails(), '1/3 +10', 'its first interval');
SELECT pg_temp.on_task('cancel', 0);
SELECT is(pg_temp.on_task('retry', 0) || ' ' || pg_temp.adopt() || ' ' || pg_temp.fails(), 'Pending 0#2 2/4 +10',
          'and again its first one');

-- A hint that is followed is not refused: a duplicate is not run again.
CREATE FUNCTION pg_temp.hint(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE 'SELECT lockstep.' || command;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN regexp_replace(hint, '\d+$', 'N');
END
$$;
SELECT pg_temp.tell('A0..1:100<0');
UPDATE lockstep.task SET status = 'Cancelled', skipped = 'duplicate', token = NULL, executor_no = NULL
WHERE queue_id = pg_temp.q() AND kafka_offset = 0;
SELECT pg_temp.on_task('cancel', 1);
SELECT is(pg_temp.hint(format('task_%s(%s)', verb, (pg_temp.task(n)).task_id)), hint, verb || ' of ' || n)
FROM (VALUES ('cancel', 0, 'Why it is not to be run: lockstep task explain N'),
             ('fail', 0, 'Why it is not to be run: lockstep task explain N'),
             ('cancel', 1, 'To run it again: lockstep task retry N')) AS v (verb, n, hint);

-- Queues and executors.
SELECT is(pg_temp.operator(format('queue_pause(%L, %L)', pg_temp.queue_name(), 'why')), pg_temp.q()::text,
          'a queue is paused');
SELECT is((SELECT (paused, paused_by)::text FROM lockstep.queue WHERE queue_id = pg_temp.q()), '(t,control_operator)',
          'it says by whom');
SELECT is(pg_temp.operator($$queue_pause('no such')$$), 'LS003 there is no queue no such', 'an unknown one is refused');
SELECT pg_temp.operator(format('queue_resume(%L)', pg_temp.queue_name()));
SELECT is(pg_temp.operator(format('executor_set(%L, 5)', executor_id)),
          'LS002 executor A can use 0 to 4 readers, not 5', 'no more readers than it was started with')
FROM lockstep.executor WHERE executor_no = 1;
SELECT is(pg_temp.operator(format('executor_set(%L, 0)', executor_id)), 'true', 'none of them') FROM lockstep.executor
WHERE executor_no = 1;
SELECT is(pg_temp.operator(format('executor_set(%L, 0)', executor_id)), 'false', 'none, as before')
FROM lockstep.executor WHERE executor_no = 1;
SELECT is(pg_temp.operator(format('executor_drain(%L)', executor_id)) ||
          pg_temp.operator(format('executor_drain(%L)', executor_id)),
          'LS002 executor A is draining already, for control_operator', 'drained once') FROM lockstep.executor
WHERE executor_no = 1;
SELECT is(pg_temp.operator(format('executor_set(%L, 1)', executor_id)),
          'LS002 executor A is draining: it takes no task any more', 'and is given no readers any more')
FROM lockstep.executor WHERE executor_no = 1;
SELECT is((readers_limit, drain_by)::text, '(0,control_operator)', 'its row says so') FROM lockstep.executor
WHERE executor_no = 1;
SELECT is(pg_temp.operator(format('executor_drain(%L)', executor_id)), 'LS002 executor A has ended: found dead',
          'a dead one is refused')
FROM lockstep.executor WHERE executor_no = 2;

-- What an operator may not.
SELECT is(pg_temp.operator(format('%s', command)),
    '42501 permission denied for function ' || split_part(command, '(', 1), 'an operator may not call ' || command)
FROM unnest(ARRAY['reopen(1, NULL, NULL)', 'run_stop(1, 0, NULL)', 'run_finish(1)', 'task_stopped(NULL)',
                  'task_held(1)', 'lose(1, NULL, NULL, NULL)', 'give_up(1)'])
    AS command;

SELECT * FROM finish();
ROLLBACK;
