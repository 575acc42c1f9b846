-- Steps (sql/functions/attempt/step_begin.sql, step_done.sql, action_step.sql): the state of the row, and the executor
-- that may move it.
BEGIN;
SELECT plan(24);
\ir protocol.inc

CREATE FUNCTION pg_temp.at(number bigint)
RETURNS text LANGUAGE sql AS $$ SELECT concat_ws(' ', status, step) FROM pg_temp.task(number) $$;
SELECT pg_temp.tell('A0:100<0 A1:100<0 A2:200<100');
CREATE TEMP TABLE held AS SELECT t.* FROM pg_temp.task(0) AS t;

CREATE TEMP TABLE begun AS SELECT b.* FROM held h, lockstep.step_begin(h.task_id, h.token, 'a') AS b;
SELECT is((b.step, b.started_at = t.started_at)::text, '(a,t)', 'an attempt begins with the first step')
FROM begun b, pg_temp.task(0) AS t;
SELECT is(pg_temp.at(0), 'Processing a', 'and is shown at once');
SELECT is(lockstep.step_done(task_id, token, 'b'), true, 'a step is done, and it goes on') FROM held;
SELECT is((pg_temp.at(0), t.token = h.token)::text, '("Processing b",t)',
          'the row stands at the next one, under the same token')
FROM held h, pg_temp.task(0) AS t;
SELECT throws_ok(format('SELECT lockstep.step_done(%s, %L, ''c'')', task_id, gen_random_uuid()), 'LS001', NULL,
                 'a wrong token moves nothing')
FROM held;
SELECT throws_ok(format('SELECT lockstep.step_done(%s, NULL, ''c'')', task_id), 'LS001', NULL, 'nor does none')
FROM held;
SELECT throws_ok(format('SELECT lockstep.step_begin(%s, %L, ''a'')', task_id, gen_random_uuid()), 'LS001', NULL,
                 'nor does it begin')
FROM held;
SELECT is(b.step, 'b', 'the next attempt goes on where the row stands')
FROM held h, lockstep.step_begin(h.task_id, h.token, 'a') AS b;

SELECT lockstep.lose(pg_temp.q(), ARRAY[task_id], ARRAY[token], 'why') FROM held;
SELECT is(pg_temp.at(0), 'Pending b', 'a lost attempt leaves it there');
SELECT throws_ok(format('SELECT lockstep.step_done(%s, %L, ''c'')', task_id, token), 'LS001',
                 'task ' || task_id || ': this attempt is no longer the current one',
                 'the step of a zombie is refused') FROM held;
UPDATE lockstep.task k SET token = h.token, executor_no = 1 FROM held h WHERE k.task_id = h.task_id;
UPDATE lockstep.task k SET cancelled_by = 'ann' FROM held h WHERE k.task_id = h.task_id;
SELECT is(lockstep.step_done(task_id, token, 'c'), false, 'a cancelled task does not go on') FROM held;
UPDATE lockstep.task k SET cancelled_by = NULL FROM held h WHERE k.task_id = h.task_id;
UPDATE lockstep.run r SET cancelled_at = now() FROM held h WHERE r.run_no = h.run_no;
SELECT is(lockstep.step_done(task_id, token, 'd'), false, 'nor does one of a cancelled run') FROM held;
UPDATE lockstep.run r SET cancelled_at = NULL FROM held h WHERE r.run_no = h.run_no;

-- Tried again by an operator: finished steps stay finished. Run again: from the first.
SELECT pg_temp.fail(0);
SELECT is(pg_temp.at(0), 'Failed d', 'the step that failed is told');
SELECT lockstep.reopen(phase_id, ARRAY[task_id], 'test') FROM held;
SELECT is(pg_temp.at(0), 'Pending d', 'reopened, it is still there');
UPDATE lockstep.task k SET token = gen_random_uuid(), executor_no = 1 FROM held h WHERE k.task_id = h.task_id;
SELECT pg_temp.complete(0);
SELECT is(pg_temp.at(0), 'Completed d', 'a completed task keeps its last step');
SELECT lockstep.reopen(phase_id, ARRAY[task_id], 'test') FROM held;
SELECT is(pg_temp.at(0), 'Pending', 'and begins with the first when it is run again');

-- A step that is a command or a request: its record is a transaction of its own, with the answer.
CREATE TEMP TABLE other AS SELECT t.* FROM pg_temp.task(1) AS t;
SELECT pg_catalog.count(b) FROM other o, lockstep.step_begin(o.task_id, o.token, 'a') AS b;
CREATE TEMP TABLE since AS SELECT t.started_at FROM pg_temp.task(1) AS t;
SELECT is((b.attempt_num, t.status, t.started_at = s.started_at)::text, '(1,Processing,t)',
          'its beginning is not that of the attempt')
FROM other o, since s, lockstep.action_begin(o.task_id, o.token, true) AS b, pg_temp.task(1) AS t;
SELECT is((lockstep.action_step(o.task_id, o.token, 'b', 'said'),
           lockstep.action_step(o.task_id, o.token, 'b', 'said'))::text,
          '(t,t)', 'recorded twice it is recorded once')
FROM other o;
SELECT is((pg_temp.at(1), t.response, t.token = o.token)::text, '("Processing b",said,t)',
          'the row stands at the next one, with its answer')
FROM other o, pg_temp.task(1) AS t;
SELECT throws_ok(format('SELECT lockstep.action_step(%s, %L, ''c'', ''x'')', task_id, gen_random_uuid()), 'LS001',
                 NULL, 'that of a zombie is refused')
FROM other;
SELECT throws_ok(format('SELECT lockstep.action_begin(%s, %L, true)', task_id, gen_random_uuid()), 'LS001', NULL,
                 'and it does not begin')
FROM other;
UPDATE lockstep.task k SET cancelled_by = 'ann' FROM other o WHERE k.task_id = o.task_id;
SELECT is(lockstep.action_step(task_id, token, 'c', NULL), false, 'a cancelled task does not go on') FROM other;
SELECT is(has_function_privilege('lockstep_task', 'lockstep.action_step(bigint, uuid, text, text)', 'EXECUTE')
          AND NOT has_function_privilege('lockstep_monitor', 'lockstep.action_step(bigint, uuid, text, text)',
                                         'EXECUTE'),
          true, 'only who runs tasks may');

SELECT is(has_function_privilege('lockstep_task', 'lockstep.step_done(bigint, uuid, text)', 'EXECUTE')
          AND NOT has_function_privilege('lockstep_monitor', 'lockstep.step_done(bigint, uuid, text)', 'EXECUTE')
          AND NOT has_function_privilege('lockstep_worker', 'lockstep.step_begin(bigint, uuid, text)', 'EXECUTE'),
          true, 'only who runs tasks may');
SELECT * FROM finish();
ROLLBACK;
