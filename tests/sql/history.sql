-- lockstep.queue_history: the activity of a queue, for charts, reckoned from rows that are there anyway.
BEGIN;
SELECT plan(16);
SET LOCAL session_replication_role = replica; -- rows as they would have become

-- Ten minutes of runs of a minute each: three phases of eight tasks of 4 s by two readers, 20 s each, 500 ms after the
-- phase before.
INSERT INTO lockstep.queue (name, topic, max_readers) VALUES ('past', 't', 4), ('idle', 't', 3), ('large', 't', 8),
    ('many', 't', 2);
CREATE FUNCTION pg_temp.q(wanted text)
RETURNS int LANGUAGE sql AS $$ SELECT queue_id FROM lockstep.queue WHERE name = wanted $$;
CREATE TEMP TABLE t AS SELECT clock_timestamp() - interval '10 minutes' AS t0;
INSERT INTO lockstep.event_log (event, queue_id, detail, at)
SELECT 'queue_changed', pg_temp.q('past'), v.detail, t0 + v.at FROM t, (VALUES ('max_readers 2', interval '-1 day'),
    ('runs serial', '1 min'), ('max_readers 4, runs serial', '5 min 30 s'))
                                                                   AS v (detail, at);
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, phases, tasks, started_at, ended_at)
SELECT gen_random_uuid(), pg_temp.q('past'), 'stop', 'Completed', 3, 24, t0 + n * interval '1 min',
       t0 + (n + 1) * interval '1 min'
FROM t, generate_series(-20, 9) AS n;
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, opened_at, done_at)
SELECT r.run_no, r.queue_id, o, o - 1, r.started_at + (o - 1) * interval '20 s', r.started_at + o * interval '20 s'
FROM lockstep.run r, generate_series(1, 3) AS o;
UPDATE lockstep.phase p SET previous_phase_id = b.phase_id FROM lockstep.phase b
WHERE b.run_no = p.run_no AND b."order" = p."order" - 1;
INSERT INTO lockstep.task (phase_id, run_no, queue_id, "order", seq, kafka_offset, payload, status, attempt_num,
                           started_at, duration)
SELECT p.phase_id, p.run_no, p.queue_id, p."order", n, p.phase_id * 10 + n, '{}', 'Completed', 1,
       p.opened_at + interval '250 ms' + n / 2 * interval '4.875 s', interval '4.875 s'
FROM lockstep.phase p, generate_series(0, 7) AS n;
CREATE FUNCTION pg_temp.points(queue text, since timestamptz, parts int)
RETURNS TABLE (n bigint, target int, in_use numeric, tasks numeric, barrier_ms numeric) LANGUAGE sql AS $$
    SELECT p.n, (p.point ->> 'target')::int, (p.point ->> 'in_use')::numeric, (p.point ->> 'tasks')::numeric,
           (p.point ->> 'barrier_ms')::numeric
    FROM json_array_elements(lockstep.queue_history(queue, since, parts,
        (SELECT t0 + interval '10 minutes' FROM t)) -> 'points') WITH ORDINALITY
        AS p (point, n)
$$;
CREATE TEMP TABLE p AS SELECT p.* FROM t, pg_temp.points('past', t0, 10) AS p;

SELECT is((SELECT count(*) FROM p), 10::bigint, 'so many parts as were asked for');
SELECT is((SELECT sum(tasks) FROM p), 240::numeric, 'every task is counted once');
SELECT ok((SELECT bool_and(tasks BETWEEN 18 AND 30) FROM p), 'in the part in which it ended');
SELECT ok((SELECT bool_and(in_use BETWEEN 1.8 AND 2) FROM p), 'two readers were busy');
SELECT is((SELECT string_agg(DISTINCT round(barrier_ms)::text, ' ') FROM p), '500',
          'from the last end to the first start');
SELECT is((SELECT array_agg(target ORDER BY n) FROM p), '{2,2,2,2,2,4,4,4,4,4}',
          'the readers that the queue was to have');
SELECT is((SELECT array_agg(concat_ws(' ', target, in_use, tasks, barrier_ms)) FROM pg_temp.points('idle', NULL, 2)),
          '{3 0.00 0,3 0.00 0}', 'a queue that did nothing');
SELECT is((SELECT json_array_length(lockstep.queue_history('idle') -> 'points')), 60,
          'an hour in minutes, unless something else is asked for');
SELECT is((SELECT (lockstep.queue_history('idle') ->> 'bucket_s')::numeric), 60.000, 'and says how long a part is');
SELECT is(lockstep.queue_history('no such queue')::text, NULL, 'no queue, no document');

-- A phase that runs for an hour, with so many tasks that only some are read: 20,000 tasks, of which half are done, by
-- four readers.
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, phases, tasks, started_at)
SELECT gen_random_uuid(), pg_temp.q('large'), 'stop', 'Running', 1, 20000, t0 FROM t;
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, opened_at)
SELECT run_no, queue_id, 1, 0, started_at FROM lockstep.run WHERE queue_id = pg_temp.q('large');
INSERT INTO lockstep.task (phase_id, run_no, queue_id, "order", seq, kafka_offset, payload, status, attempt_num,
                           started_at, duration)
SELECT p.phase_id, p.run_no, p.queue_id, 1, n, n, '{}',
       CASE WHEN n < 10000 THEN 'Completed' ELSE 'Pending' END::lockstep.status, 1,
       CASE WHEN n < 10000 THEN p.opened_at + n * interval '58.8 ms' END, interval '235.2 ms'
FROM lockstep.phase p, generate_series(0, 19999) AS n WHERE p.queue_id = pg_temp.q('large');
CREATE TEMP TABLE l AS SELECT p.* FROM t, pg_temp.points('large', t0, 10) AS p;
SELECT ok((SELECT sum(tasks) BETWEEN 9700 AND 10300 FROM l), 'as many as ended');
SELECT ok((SELECT bool_and(tasks BETWEEN 800 AND 1200) AND bool_and(in_use BETWEEN 3.2 AND 4.8) FROM l WHERE n < 10),
          'evenly, by four readers');
SELECT is((SELECT count(barrier_ms) FROM l), 0::bigint, 'without a barrier');

-- So many phases that only every third one is read: 1,000 of two tasks in ten minutes, 600 ms each, by two readers.
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, phases, tasks, started_at)
SELECT gen_random_uuid(), pg_temp.q('many'), 'stop', 'Running', 1000, 2000, t0 FROM t;
INSERT INTO lockstep.phase (run_no, queue_id, "order", previous_order, opened_at, done_at)
SELECT r.run_no, r.queue_id, o, o - 1, r.started_at + (o - 1) * interval '600 ms', r.started_at + o * interval '600 ms'
FROM lockstep.run r, generate_series(1, 1000) AS o WHERE r.queue_id = pg_temp.q('many');
INSERT INTO lockstep.task (phase_id, run_no, queue_id, "order", seq, kafka_offset, payload, status, attempt_num,
                           started_at, duration)
SELECT p.phase_id, p.run_no, p.queue_id, p."order", n, p."order" * 2 + n, '{}', 'Completed', 1, p.opened_at,
       interval '590 ms'
FROM lockstep.phase p, generate_series(0, 1) AS n WHERE p.queue_id = pg_temp.q('many');
CREATE TEMP TABLE m AS SELECT p.* FROM t, pg_temp.points('many', t0, 10) AS p;
SELECT ok((SELECT sum(tasks) BETWEEN 1950 AND 2050 FROM m), 'each phase that is read counts for its neighbours');
SELECT ok((SELECT bool_and(tasks BETWEEN 190 AND 210) AND bool_and(in_use BETWEEN 1.8 AND 2.1) FROM m),
          'evenly, by two readers');

CREATE TEMP TABLE looked (is_there boolean);
GRANT INSERT ON looked TO lockstep_monitor;
SET LOCAL ROLE lockstep_monitor;
INSERT INTO looked SELECT lockstep.queue_history('past') IS NOT NULL;
RESET ROLE;
SELECT ok((SELECT is_there FROM looked), 'those who may look may read it');

SELECT finish();
ROLLBACK;
