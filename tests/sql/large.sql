-- What the console says of runs that are too large to be counted: lockstep.phase_counts, lockstep.run_document,
-- lockstep.run_sketch.
BEGIN;
SELECT plan(23);
SET LOCAL session_replication_role = replica; -- rows as they would have become

INSERT INTO lockstep.queue (name, topic) VALUES ('large', 't');
INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, phases, tasks, started_at)
SELECT 'eeee0000-0000-4000-8000-000000000001', queue_id, 'n', 'stop', 'Running', 3, 6000, now() - interval '100 s'
FROM lockstep.queue WHERE name = 'large';
CREATE TEMP TABLE r AS SELECT run_no, queue_id, started_at AS t0 FROM lockstep.run WHERE name = 'n';
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, opened_at, done_at)
SELECT run_no, queue_id, o, o - 10, t0 + a, t0 + b
FROM r, (VALUES (10, interval '0 s', interval '40 s'), (20, '40 s', NULL), (30, NULL, NULL)) AS v (o, a, b);
-- 2,000 tasks a phase. Of the open one 1,200 are done, 4 run, 60 are in hand, and no executor has the rest. Two at
-- once, 40 ms each.
INSERT INTO lockstep.task (phase_id, run_no, queue_id, "order", seq, kafka_offset, payload, status, attempt_num,
                           executor_no, started_at, duration)
SELECT p.phase_id, p.run_no, p.queue_id, p."order", n + 200 * p."order", 100 + n + 200 * p."order", '{}',
       x.status::lockstep.status, 1, CASE WHEN x.status <> 'Pending' OR p."order" = 20 AND n < 1264 THEN 1 END,
       CASE WHEN x.status <> 'Pending' THEN p.opened_at + n / 2 * interval '40 ms' END,
       CASE WHEN x.status = 'Completed' THEN interval '40 ms' END
FROM lockstep.phase p JOIN r USING (run_no) CROSS JOIN generate_series(0, 1999) AS n
CROSS JOIN LATERAL (SELECT CASE WHEN p."order" = 10 OR p."order" = 20 AND n < 1200 THEN 'Completed'
                                WHEN p."order" = 20 AND n < 1204 THEN 'Processing' ELSE 'Pending' END AS status) x;
CREATE TEMP VIEW p AS SELECT h.phase_id, h."order" AS o, h.opened_at IS NOT NULL AS opened,
h.done_at IS NOT NULL AS done
FROM lockstep.phase h JOIN r USING (run_no);
CREATE FUNCTION pg_temp.counted(ord int, most bigint) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', c.tasks, c.pending, c.processing, c.error, c.completed, c.failed, c.cancelled,
                     c.counted_all)
    FROM p CROSS JOIN LATERAL lockstep.phase_counts(p.phase_id, p.opened, p.done, most) AS c
    WHERE p.o = ord $$;

SELECT is(pg_temp.counted(10, 5000), '2000 0 0 0 2000 0 0 t', 'a phase that is done, counted');
SELECT is(pg_temp.counted(20, 5000), '2000 796 4 0 1200 0 0 t', 'one that is open, counted');
SELECT is(pg_temp.counted(30, 5000), '2000 2000 0 0 0 0 0 t', 'one to come, counted');
SELECT is(pg_temp.counted(10, 100), '2000 0 0 0 2000 0 0 f', 'a phase that is done, from a window');
SELECT is(pg_temp.counted(20, 100), '2000 796 4 0 1200 0 0 f',
          'one that is open, from a window: what its executors have, and what is behind it');
SELECT is(pg_temp.counted(30, 100), '2000 2000 0 0 0 0 0 f', 'one to come, from a window');
SELECT is(pg_temp.counted(10, 2000), '2000 0 0 0 2000 0 0 t', 'as many as are counted');
SELECT is((SELECT c.first_start
           FROM p CROSS JOIN LATERAL lockstep.phase_counts(p.phase_id, p.opened, p.done, 100) AS c WHERE p.o = 10),
          (SELECT t0 FROM r), 'when its first task began');
SELECT is((SELECT c.last_end FROM p CROSS JOIN LATERAL lockstep.phase_counts(p.phase_id, p.opened, p.done, 100) AS c
           WHERE p.o = 10),
          (SELECT t0 + interval '40 s' FROM r), 'and its last one ended');

CREATE FUNCTION pg_temp.document(most bigint) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', d ->> 'tasks', d ->> 'pending', d ->> 'processing', d ->> 'completed', d ->> 'failed',
                     d ->> 'order', d ->> 'counted_all')
    FROM (SELECT lockstep.run_document(run_no, most, true)::jsonb AS d FROM r) x $$;
SELECT is(pg_temp.document(10000), '6000 2796 4 3200 0 20 true', 'a run, counted');
SELECT is(pg_temp.document(1000), '6000 2796 4 3200 0 20 false', 'the same from its phases that are not done');
INSERT INTO lockstep.event_log (event, queue_id, run_no)
SELECT 'task_failed', queue_id, run_no FROM r, generate_series(1, 3);
SELECT is(pg_temp.document(1000), '6000 2796 4 3197 3 20 false', 'what has failed is in the log of events');
INSERT INTO lockstep.event_log (event, queue_id, run_no) SELECT 'run_reopened', queue_id, run_no FROM r;
SELECT is(pg_temp.document(1000), '6000 2796 4 3200 0 20 false', 'but what was tried again has not');
SELECT is((SELECT array_agg(k ORDER BY k)
           FROM (SELECT jsonb_object_keys(lockstep.run_document(run_no, 1, true)::jsonb) AS k FROM r) x),
          (SELECT array_agg(k ORDER BY k)
           FROM (SELECT jsonb_object_keys(lockstep.run_document(run_no, 9999, true)::jsonb) AS k FROM r) x),
          'both have the same members');

INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id)
SELECT 'task_failed', r.queue_id, r.run_no, p.phase_id
FROM r JOIN lockstep.phase p USING (run_no), generate_series(1, 2) WHERE p."order" = 20;
CREATE TEMP TABLE d AS SELECT lockstep.run_sketch(run_no, 100)::jsonb AS d FROM r;
CREATE TEMP VIEW s AS SELECT p.value, (p.value ->> 'order')::int AS o FROM d, jsonb_array_elements(d -> 'phases') AS p;
SELECT is((SELECT concat_ws(' ', d ->> 'sampled', d ->> 'phases_hidden', d ->> 'readers') FROM d), 'true 0 2',
          'a sketch: two readers');
SELECT is((SELECT array_agg(o ORDER BY o) FROM s), '{10,20,30}', 'its phases');
SELECT is((SELECT concat_ws(' ', value ->> 'tasks', value ->> 'start_s', value ->> 'end_s') FROM s WHERE o = 10),
          '2000 0.000000 40.000000', 'when one ran');
SELECT ok((SELECT (value ->> 'busy_share')::float8 BETWEEN 0.95 AND 1 FROM s WHERE o = 10), 'all the time');
SELECT ok((SELECT count(*) = 100 AND min(v::float8) > 0.8 FROM s, jsonb_array_elements_text(value -> 'density') AS v
           WHERE o = 10),
          'in each part of it');
-- Two runs that took turns on the topic: each second offset is the other one's.
UPDATE lockstep.task t SET kafka_offset = -2 * t.kafka_offset FROM r WHERE t.run_no = r.run_no;
UPDATE lockstep.task t SET kafka_offset = -t.kafka_offset FROM r WHERE t.run_no = r.run_no;
SELECT ok((SELECT count(*) BETWEEN 80 AND 100 AND avg(v::float8) BETWEEN 0.7 AND 1
           FROM r CROSS JOIN LATERAL jsonb_array_elements(lockstep.run_sketch(r.run_no, 100)::jsonb -> 'phases') AS p
           CROSS JOIN LATERAL jsonb_array_elements_text(p.value -> 'density') AS v
           WHERE p.value ->> 'order' = '10'),
          'the same picture when only each second offset is of this run');
SELECT is((SELECT value -> 'density' FROM s WHERE o = 30), 'null'::jsonb, 'what has not begun has no density');
SELECT is((SELECT array_agg((value ->> 'failed')::int ORDER BY o) FROM s), '{0,2,0}', 'which phases have failures');
SELECT is(lockstep.run_sketch(-1, 100)::text, NULL, 'no run, no document');
SELECT * FROM finish();
ROLLBACK;
