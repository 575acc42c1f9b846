-- huge.sql: a database in which everything is many, for tests/e2e/console_huge.sh: 40 queues, 400 runs, two runs of 100
-- phases with 1,000 and with 500 tasks each, 1,000 jobs of which some fire each minute, 60 executors, and their
-- history. Rows as they would have become; made by psql.
\set QUIET 1
SET session_replication_role = replica;
CREATE FUNCTION uid(n bigint)
RETURNS uuid LANGUAGE sql IMMUTABLE AS $$ SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid $$;
BEGIN;
INSERT INTO lockstep.queue (queue_id, name, topic, max_readers, runs, last_offset, next_offset, paused, paused_by,
                            paused_at, halted_at, halted_reason, halted_detail)
OVERRIDING SYSTEM VALUE
SELECT n, CASE n WHEN 1 THEN 'huge' WHEN 2 THEN 'a_queue_whose_name_is_as_long_as_a_name_of_a_queue_may_well_be'
               ELSE 'queue' || n END,
       'topic' || n, n % 16 + 1,
       CASE WHEN n % 5 = 0 THEN 'concurrent' ELSE 'serial' END, n * 1000000, n * 1000000 + 1, n = 3,
       CASE n WHEN 3 THEN 'ops' END, CASE n WHEN 3 THEN now() END,
       CASE n WHEN 4 THEN now() END, CASE n WHEN 4 THEN 'topic_replaced' END,
       CASE n WHEN 4 THEN 'the topic was deleted and made again: its birthmark is another one' END
FROM generate_series(1, 40) AS n;
INSERT INTO lockstep.executor (executor_no, executor_id, host, pid, version, readers, queues, started_at,
                               heartbeat_at)
OVERRIDING SYSTEM VALUE
SELECT n, uid(n), 'worker-' || n || '.batch.example.com', 1000 + n, '0.1.0', 8, ARRAY['huge', 'queue' || n % 37 + 3],
       now() - n * interval '1 h', now() - n * interval '10 s'
FROM generate_series(1, 60) AS n;

-- 400 runs, the newest of which are open.
INSERT INTO lockstep.run (run_no, run_id, queue_id, name, on_failure, status, first_offset, end_offset, last_phase_id,
                          last_order, tasks, phases, started_at, ended_at, published_at, error)
OVERRIDING SYSTEM VALUE
SELECT n, uid(n), n % 40 + 1,
       CASE WHEN n % 7 = 0 THEN 'nightly load of the sales of all shops of the region, number ' || n
            WHEN n % 3 > 0 THEN 'load ' || n END,
       'continue',
       CASE WHEN n > 380 THEN 'Running' WHEN n % 11 = 0 THEN 'Failed' WHEN n % 13 = 0 THEN 'PartiallyCompleted'
            WHEN n % 17 = 0 THEN 'Cancelled' ELSE 'Completed' END,
       n * 1000, CASE WHEN n <= 380 THEN n * 1000 + 20 END, n * 10 + 1, 200, 20, 2,
       now() - (401 - n) * interval '20 min', CASE WHEN n <= 380 THEN now() - (401 - n) * interval '19 min' END,
       now() - (401 - n) * interval '20 min',
       CASE WHEN n <= 380 AND n % 11 = 0 THEN 'task 3 of order 100 failed: division by zero' END
FROM generate_series(1, 400) AS n;
INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, opened_at, done_at)
OVERRIDING SYSTEM VALUE
SELECT r.run_no * 10 + p, r.run_no, r.queue_id, (p + 1) * 100, p * 100,
       CASE WHEN p = 0 OR r.ended_at IS NOT NULL THEN r.started_at + p * interval '30 s' END,
       CASE WHEN r.ended_at IS NOT NULL THEN r.started_at + (p + 1) * interval '30 s' END
FROM lockstep.run r, generate_series(0, 1) AS p WHERE r.run_no <= 400;
INSERT INTO lockstep.task (task_id, phase_id, run_no, queue_id, status, "order", seq, kafka_offset, payload, name,
                           executor_no, attempt_num, started_at, duration, error)
OVERRIDING SYSTEM VALUE
SELECT p.phase_id * 10 + i, p.phase_id, p.run_no, p.queue_id, s.status::lockstep.status, p."order",
       p.phase_id % 10 * 10 + i, p.run_no * 1000 + p.phase_id % 10 * 10 + i, '{"sql": "SELECT 1"}',
       'step ' || i, i % 60 + 1, CASE WHEN s.status <> 'Pending' THEN 1 ELSE 0 END,
       CASE WHEN s.status <> 'Pending' THEN p.opened_at + i * interval '2 s' END,
       CASE WHEN s.status = 'Completed' THEN interval '1.5 s' END,
       CASE s.status WHEN 'Failed' THEN 'ERROR:  division by zero' END
FROM lockstep.phase p, generate_series(0, 9) AS i
CROSS JOIN LATERAL (SELECT CASE WHEN p.opened_at IS NULL THEN 'Pending' WHEN p.done_at IS NOT NULL
                                    THEN CASE WHEN p.run_no % 11 = 0 AND i = 3 THEN 'Failed' ELSE 'Completed' END
                                WHEN i < 4 THEN 'Completed' WHEN i < 7 THEN 'Processing'
                                ELSE 'Pending' END AS status) s;

-- 100 phases of 1,000 tasks, and of 500, on 8 readers; some fail, some are tried again.
INSERT INTO lockstep.run (run_no, run_id, queue_id, name, on_failure, status, first_offset, end_offset, last_phase_id,
                          last_order, tasks, phases, started_at, ended_at, published_at)
OVERRIDING SYSTEM VALUE
SELECT 10000 + w, uid(10000 + w), 1, '100 phases of ' || w || ' tasks', 'continue', 'PartiallyCompleted', w * 1000000,
       w * 1000000 + 900000, (10000 + w) * 100 + 99, 10000, 100 * w, 100,
       now() - interval '20 h', now() - interval '20 h' + 100 * w / 8 * interval '1 s', now() - interval '20 h'
FROM unnest(ARRAY[500, 1000]) AS w;
INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, opened_at, done_at)
OVERRIDING SYSTEM VALUE
SELECT r.run_no * 100 + p, r.run_no, 1, (p + 1) * 100, p * 100, r.started_at + p * r.tasks / 800 * interval '1 s',
       r.started_at + ((p + 1) * r.tasks / 800 - 1) * interval '1 s'
FROM lockstep.run r, generate_series(0, 99) AS p WHERE r.run_no > 10000;
INSERT INTO lockstep.task (task_id, phase_id, run_no, queue_id, status, "order", seq, kafka_offset, payload, name,
                           executor_no, attempt_num, started_at, duration, error)
OVERRIDING SYSTEM VALUE
SELECT p.phase_id * 1000 + i, p.phase_id, p.run_no, 1,
       (CASE WHEN i = 77 THEN 'Failed' ELSE 'Completed' END)::lockstep.status, p."order", i,
       r.first_offset + (p.phase_id % 100) * 1000 + i, '{"sql": "SELECT 1"}',
       'load shop ' || i, i % 60 + 1, 1, p.opened_at + i / 8 * interval '1 s' + i % 8 * interval '10 ms',
       interval '0.9 s', CASE i WHEN 77 THEN 'ERROR:  division by zero' END
FROM lockstep.phase p JOIN lockstep.run r USING (run_no), generate_series(0, 999) AS i
WHERE p.run_no > 10000 AND i < r.tasks / 100 - 1;
INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, sqlstate, error)
SELECT t.task_id, 1, 'Failed', 1, t.started_at, t.started_at + interval '0.5 s', '22012', 'division by zero'
FROM lockstep.task t WHERE t.status = 'Failed';

-- 1,000 jobs: hourly, daily, each minute, by hand. A tenth of them has a problem.
INSERT INTO lockstep.job (job_id, name, queue_id, spec, enabled, overlap, zombie_after) OVERRIDING SYSTEM VALUE
SELECT n, CASE WHEN n % 9 = 0 THEN 'warehouse.sales.load_of_the_region_' || n ELSE 'job' || lpad(n::text, 4, '0') END,
       n % 40 + 1,
       jsonb_build_object('job', 'job' || n, 'queue', 'huge', 'tasks', '[{"order": 1, "sql": "SELECT 1"}]'::jsonb),
       n % 50 > 0, 'skip', '30 min'
FROM generate_series(1, 1000) AS n;
INSERT INTO lockstep.schedule (schedule_id, job_id, name, spec, rule, is_active, misfire, catchup_window, jitter,
                               next_at)
OVERRIDING SYSTEM VALUE
SELECT n, n, 's', s.spec, lockstep.rule_of(s.spec), n % 50 > 0, 'once', '1 h', '0', now() + interval '1 h'
FROM generate_series(1, 1000) AS n
CROSS JOIN LATERAL (SELECT jsonb_build_object('name', 's', 'kind', 'cron', 'zone', 'Europe/Warsaw', 'expr',
                        CASE WHEN n % 20 = 0 THEN '* * * * *' WHEN n % 3 = 0 THEN n % 60 || ' * * * *'
                             ELSE n % 60 || ' ' || n % 24 || ' * * *' END) AS spec) s
WHERE n % 10 < 9;
INSERT INTO lockstep.job_occurrence (occurrence_id, job_id, schedule_id, scheduled_for, decided_at, outcome, source,
                                     run_id, dispatcher, reason)
OVERRIDING SYSTEM VALUE
SELECT j * 100 + n, j, j, now() - n * interval '1 h', now() - n * interval '1 h', o.outcome, 'schedule s',
       CASE o.outcome WHEN 'fired' THEN uid(j % 400 + 1) END, 'worker-1',
       CASE o.outcome WHEN 'fired' THEN NULL ELSE 'the run before was still open' END
FROM generate_series(1, 1000) AS j, generate_series(1, 50) AS n
CROSS JOIN LATERAL (SELECT CASE WHEN (j + n) % 23 = 0 THEN 'missed' WHEN (j + n) % 29 = 0 THEN 'error'
                                WHEN (j + n) % 7 = 0 THEN 'skipped' ELSE 'fired' END AS outcome) o
WHERE j % 10 < 9;
INSERT INTO lockstep.job_alert (alert_id, job, kind, since, text, seen_at, last_seen_at, opened_at, closed_at, ended)
OVERRIDING SYSTEM VALUE
SELECT n, CASE WHEN n % 9 = 0 THEN 'warehouse.sales.load_of_the_region_' || n ELSE 'job' || lpad(n::text, 4, '0') END,
       (ARRAY['missed', 'stuck', 'failed', 'late'])[n % 4 + 1], now() - n * interval '1 h',
       'schedule s: the run before was still open',
       now() - n * interval '1 h', now(),
       now() - n * interval '1 h', CASE WHEN n > 60 THEN now() END, CASE WHEN n > 60 THEN 'recovered' END
FROM generate_series(1, 400) AS n;
INSERT INTO lockstep.job_event (job_event_id, at, job, event, source, message) OVERRIDING SYSTEM VALUE
SELECT n, now() - (20000 - n) * interval '30 s', 'job' || lpad((n % 1000)::text, 4, '0'),
       (ARRAY['fired', 'completed', 'skipped', 'missed', 'error'])[n % 5 + 1], 'schedule s',
       'what happened then, number ' || n
FROM generate_series(1, 20000) AS n;

INSERT INTO lockstep.event_log (event_id, at, event, queue_id, run_no, detail, actor) OVERRIDING SYSTEM VALUE
SELECT n, now() - (30000 - n) * interval '10 s',
       (ARRAY['run_started', 'phase_opened', 'task_failed', 'run_ended', 'run_paused', 'queue_changed'])[n % 6 + 1],
       n % 40 + 1, n % 400 + 1,
       CASE n % 6 WHEN 3 THEN (ARRAY['Completed', 'Failed', 'PartiallyCompleted'])[n / 6 % 3 + 1]
            WHEN 2 THEN '22012: division by zero' ELSE 'order ' || n % 100 END,
       'ops'
FROM generate_series(1, 30000) AS n;
INSERT INTO lockstep.rejected_message (rejected_id, queue_id, kafka_offset, seq, reason, detail, raw, rejected_at)
OVERRIDING SYSTEM VALUE
SELECT n, n % 40 + 1, n, n, (ARRAY['bad_json', 'bad_field', 'no_run'])[n % 3 + 1],
       'the field "ordr" is unknown; the message begins with ' || n,
       convert_to('{"ordr": ' || n || ', "text": "<script>"}', 'UTF8'),
       now() - n * interval '1 min' FROM generate_series(1, 12000) AS n;
INSERT INTO lockstep.replay (replay_id, queue_id, mode, from_offset, to_offset, cursor, reason, state, started_at,
                             ended_at)
OVERRIDING SYSTEM VALUE
SELECT n, n % 40 + 1, (ARRAY['failed', 'missing', 'all'])[n % 3 + 1], n * 1000, n * 1000 + 999, n * 1000 + 999,
       'the disk was full, number ' || n, 'Completed', now() - n * interval '1 h',
       now() - n * interval '59 min' FROM generate_series(1, 200) AS n;
COMMIT;
SELECT setval(pg_get_serial_sequence('lockstep.' || c.relname, a.attname), 20000000)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind = 'r' AND a.attidentity <> '' \g /dev/null
ANALYZE;
