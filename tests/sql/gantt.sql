-- lockstep.run_gantt: the document that pictures of a run are drawn from, here and in the console.
BEGIN;
SELECT plan(29);
SET LOCAL session_replication_role = replica; -- rows as they would have become

INSERT INTO lockstep.queue (name, topic) VALUES ('gantt', 't');
INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, phases, tasks, started_at, ended_at)
SELECT 'cccc0000-0000-4000-8000-000000000001', queue_id, 'n', 'stop', 'Failed', 3, 0, '2024-05-06 09:00:00Z',
       '2024-05-06 09:01:40Z'
FROM lockstep.queue WHERE name = 'gantt';
CREATE TEMP TABLE r AS SELECT run_no, queue_id, started_at AS t0 FROM lockstep.run WHERE name = 'n';
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, opened_at, done_at)
SELECT run_no, queue_id, o, o - 10, t0 + a, t0 + b
FROM r, (VALUES (10, interval '1 s', interval '10 s'), (20, '11 s', '31 s'), (30, NULL, NULL)) AS v (o, a, b);
CREATE FUNCTION pg_temp.task(ord bigint, n bigint, status text, attempt int, start_s float8, seconds float8,
                             type text DEFAULT 'sql')
RETURNS bigint LANGUAGE sql AS $$
    INSERT INTO lockstep.task (phase_id, run_no, queue_id, "order", seq, kafka_offset, payload, name, status,
                               attempt_num, started_at, duration, type)
    SELECT p.phase_id, p.run_no, p.queue_id, p."order", n, n, '{"secret": 1}', 'n' || n, status::lockstep.status,
           attempt, r.t0 + make_interval(secs => start_s), make_interval(secs => seconds), type
    FROM lockstep.phase p JOIN r USING (run_no) WHERE p."order" = ord RETURNING task_id $$;
CREATE FUNCTION pg_temp.attempt(task bigint, n int, status text, a float8, b float8) RETURNS text LANGUAGE sql AS $$
    INSERT INTO lockstep.task_attempt (task_id, attempt, status, started_at, ended_at)
    SELECT task, n, status::lockstep.status, t0 + make_interval(secs => a), t0 + make_interval(secs => b) FROM r
    RETURNING 'attempt'
$$;
-- Two at once from 2 to 6; one that fails, waits and succeeds from 4 to 9; one that fails for good; one that was
-- cancelled.
CREATE TEMP TABLE made AS
SELECT pg_temp.task(10, 1, 'Completed', 1, 2, 4)::text AS made
UNION ALL SELECT pg_temp.task(10, 2, 'Completed', 1, 2, 2)::text
UNION ALL SELECT pg_temp.attempt(pg_temp.task(10, 3, 'Completed', 2, 8, 1), 1, 'Error', 4, 5)
UNION ALL SELECT pg_temp.attempt(pg_temp.task(10, 4, 'Failed', 1, 6, 1.5), 1, 'Failed', 6, 7.5)
UNION ALL SELECT pg_temp.task(10, 5, 'Cancelled', 0, NULL, NULL)::text
-- 560: one reader all the time, the other one for half of it.
UNION ALL SELECT pg_temp.task(20, 100 + n, 'Completed', 1, 12 + n / 10.0, 0.1)::text FROM generate_series(0, 159) AS n
UNION ALL SELECT pg_temp.task(20, 1000 + n, 'Completed', 1, 12 + n / 50.0, 0.02)::text FROM generate_series(0, 399) AS n
UNION ALL SELECT pg_temp.task(30, 2000 + n, 'Pending', 0, NULL, NULL)::text FROM generate_series(1, 3) AS n;

CREATE TEMP TABLE d AS SELECT lockstep.run_gantt(run_no, 16)::jsonb AS d FROM r;
CREATE TEMP VIEW p AS SELECT p.value, (p.value ->> 'order')::int AS o FROM d, jsonb_array_elements(d -> 'phases') AS p;

SELECT is((SELECT d - 'phases' - 'now' - 'started_at' - 'ended_at' FROM d),
          '{"run_id": "cccc0000-0000-4000-8000-000000000001", "queue": "gantt", "name": "n",
    "status": "Failed", "length_s": 100, "readers": 2, "times_hidden": false}'::jsonb, 'the run');
SELECT is((SELECT array_agg(o ORDER BY o) FROM p), '{10,20,30}', 'its phases');
SELECT is((SELECT value -> 'status' FROM p WHERE o = 10), '{"Completed": 3, "Failed": 1, "Cancelled": 1}'::jsonb,
          'tasks by status');
SELECT is((SELECT concat_ws(' ', value -> 'tasks', (value -> 'opened_s')::float8, (value -> 'start_s')::float8,
                            (value -> 'end_s')::float8)
           FROM p WHERE o = 10),
          '5 1 2 9', 'when it ran');
SELECT is((SELECT value -> 'barrier_s' FROM p WHERE o = 10), 'null'::jsonb, 'before the first phase is no barrier');
SELECT is((SELECT (value ->> 'barrier_s')::float8 FROM p WHERE o = 20), 3::float8,
          'from the last end to the first start');
SELECT is((SELECT round((value ->> 'busy_share')::numeric, 4) FROM p WHERE o = 10), round(9.5 / 14, 4),
          'attempts that failed are work, too');
SELECT is((SELECT value #>> '{straggler,name}' FROM p WHERE o = 10), 'n3', 'the one that ended last');
SELECT is((SELECT (value #>> '{straggler,seconds}')::float8 FROM p WHERE o = 10), 1::float8, 'and how long it ran');
SELECT is((SELECT string_agg(concat_ws(' ', b ->> 'name', b ->> 'attempt', b ->> 'status', (b ->> 'start_s')::float8,
                                       (b ->> 'end_s')::float8, (b ->> 'waited_s')::float8, b ->> 'waited_for'),
                             ', '
                             ORDER BY n)
           FROM p, jsonb_array_elements(value -> 'bars') WITH ORDINALITY AS b (b, n) WHERE o = 10),
          'n1 1 Completed 2 6 1 reader, n2 1 Completed 2 4 1 reader, n3 1 Error 4 5 3 reader, n3 2 Completed 8 9 3 '
          'retry, n4 1 Failed 6 7.5 5 reader, n5 Cancelled',
          'a bar an attempt');
SELECT is((SELECT value -> 'density' FROM p WHERE o = 10), 'null'::jsonb, 'and no density');
SELECT is((SELECT value -> 'bars' FROM p WHERE o = 20), 'null'::jsonb, 'no bars of more than 500');
SELECT is((SELECT array_agg(round(c.c::text::numeric, 1) ORDER BY n)
           FROM p, jsonb_array_elements(value -> 'density') WITH ORDINALITY AS c (c, n) WHERE o = 20),
          array_fill(1.0, ARRAY[8]) || array_fill(0.5, ARRAY[8]), 'the share of the readers in each part of the time');
SELECT is((SELECT jsonb_array_length(lockstep.run_gantt(run_no)::jsonb #> '{phases,1,density}') FROM r), 200,
          '200 parts, unless another number is asked for');
SELECT is((SELECT concat_ws(' ', value -> 'start_s', value -> 'busy_share', value -> 'straggler',
                            jsonb_array_length(value -> 'bars'))
           FROM p WHERE o = 30),
          'null null null 3', 'a phase that has not begun');
SELECT ok((SELECT d::text !~ 'secret' FROM d), 'no payload');

-- A part of its time.
CREATE FUNCTION pg_temp.bars(a float8, b float8, o int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT p.value -> 'bars' FROM r, jsonb_array_elements(lockstep.run_bars(run_no, a, b)::jsonb -> 'phases') AS p
    WHERE (p.value ->> 'order')::int = o
$$;
SELECT is(pg_temp.bars(0, 100, 10),
          (SELECT jsonb_agg(b ORDER BY n) FROM p, jsonb_array_elements(value -> 'bars') WITH ORDINALITY AS b (b, n)
           WHERE o = 10 AND b ->> 'start_s' IS NOT NULL),
          'the same bars, but for tasks that made no attempt');
SELECT is((SELECT string_agg(b ->> 'name', ' ') FROM jsonb_array_elements(pg_temp.bars(6.5, 7.9, 10)) AS b), 'n4',
          'what ran then, and no other attempt of the same task');
SELECT is((SELECT array_agg(b ->> 'task_id' ORDER BY b ->> 'task_id')
           FROM jsonb_array_elements(pg_temp.bars(15.01, 16.005, 20)) AS b),
          (SELECT array_agg(t.task_id::text ORDER BY t.task_id::text) FROM lockstep.task t JOIN r USING (run_no)
           WHERE t."order" = 20 AND t.started_at <= t0 + interval '16.005 s'
             AND t.started_at + t.duration >= t0 + interval '15.01 s'),
          'of a phase with a density, those of a short time');
SELECT is(pg_temp.bars(0, 100, 20), NULL, 'and none of a time in which more than 500 ran');

-- While it runs.
UPDATE lockstep.run SET ended_at = NULL, started_at = clock_timestamp() - interval '10 s' WHERE name = 'n';
UPDATE lockstep.phase SET opened_at = clock_timestamp() - interval '4 s'
WHERE "order" = 30 AND run_no = (SELECT run_no FROM r);
UPDATE lockstep.task SET status = 'Processing', attempt_num = 1, started_at = clock_timestamp() - interval '3 s'
WHERE kafka_offset = 2001 AND run_no = (SELECT run_no FROM r);
DELETE FROM d;
INSERT INTO d SELECT lockstep.run_gantt(run_no)::jsonb FROM r;
SELECT ok((SELECT (d ->> 'length_s')::float8 >= 10 AND d -> 'ended_at' = 'null' FROM d), 'an open run lasts until now');
SELECT ok((SELECT (b ->> 'end_s')::float8 - (b ->> 'start_s')::float8 >= 3
           FROM p, jsonb_array_elements(value -> 'bars') AS b WHERE o = 30 AND b ->> 'status' = 'Processing'),
          'and so does what runs');

-- An external task takes no reader.
INSERT INTO made
SELECT pg_temp.task(30, 2500 + n, 'Completed', 1, 12, 19, 'external')::text FROM generate_series(1, 3) AS n;
SELECT is((SELECT lockstep.run_gantt(run_no)::jsonb ->> 'readers' FROM r), '2',
          'external tasks are not counted among the readers');
SELECT is((SELECT (lockstep.run_gantt(run_no)::jsonb #>> '{phases,1,barrier_s}')::float8 FROM r), 3::float8,
          'the barrier as before');
INSERT INTO made SELECT pg_temp.task(10, 6, 'Completed', 2, 40, 10)::text;
SELECT is((SELECT lockstep.run_gantt(run_no)::jsonb #> '{phases,1,barrier_s}' FROM r), 'null'::jsonb,
          'no barrier where a phase before was retried later');
UPDATE lockstep.task SET duration = interval '-1 hour'
WHERE "order" = 20 AND run_no = (SELECT run_no FROM r);
SELECT is((SELECT lockstep.run_gantt(run_no)::jsonb #>> '{phases,1,tasks}' FROM r), '560',
          'a run during which the clock was set back has a picture');
UPDATE lockstep.run SET tasks = 2000001 WHERE name = 'n';
SELECT is((SELECT concat_ws(' ', x ->> 'times_hidden', jsonb_array_length(x -> 'phases'), x #> '{phases,1,density}')
           FROM (SELECT lockstep.run_gantt(run_no)::jsonb AS x FROM r) y),
          'true 3 null', 'a run that is too large is not read');
SELECT is(lockstep.run_gantt(-1)::text, NULL, 'no run, no document');
CREATE TEMP TABLE looked (is_there boolean);
GRANT INSERT ON looked TO lockstep_monitor;
SET LOCAL ROLE lockstep_monitor;
INSERT INTO looked SELECT lockstep.run_gantt((SELECT max(run_no) FROM lockstep.run)) IS NOT NULL;
RESET ROLE;
SELECT ok((SELECT is_there FROM looked), 'those who may look may read it');

SELECT finish();
ROLLBACK;
