-- The database of tests/e2e/plans.sh, in two parts. few: a little of everything, with the ids that plans.table names.
-- many: so much history before it and of other queues that a statement which reads more than it needs is seen. Run by
-- psql with -v part=few or -v part=many.
\set QUIET 1
SET session_replication_role = replica; -- no triggers: rows as they would have become
SELECT :'part' = 'many' AS many \gset
\if :many
\else

CREATE FUNCTION uid(n bigint)
RETURNS uuid LANGUAGE sql IMMUTABLE AS $$ SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid $$;
-- Rows and index entries that this session has read so far, by table of ours; and those since
-- set_config('plans.before', reads()).
CREATE FUNCTION reads() RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_object_agg(r.name, r.n) FROM (
        SELECT COALESCE(t.relname, c.relname) AS name, sum(pg_stat_get_xact_tuples_returned(c.oid)) AS n
        FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid
        WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind IN ('r', 'i') GROUP BY 1) r
$$;
CREATE FUNCTION since() RETURNS text LANGUAGE sql AS $$
    SELECT COALESCE(sum(s.n), 0) || '|' || COALESCE(string_agg(s.name || ' ' || s.n, ', ' ORDER BY s.n DESC), '') FROM (
        SELECT a.key AS name, a.value::bigint - b.value::bigint AS n
        FROM jsonb_each_text(reads()) a JOIN jsonb_each_text(current_setting('plans.before')::jsonb) b USING (key)) s
    WHERE s.n > 0
$$;

-- When statistics are gathered is the test's choice, not autovacuum's.
SELECT format('ALTER TABLE %s SET (autovacuum_enabled = off)', c.oid::regclass) FROM pg_class c
WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind = 'r' \gexec
INSERT INTO lockstep.queue (queue_id, name, topic, max_readers, runs, keep_runs, external_lease, last_offset,
                            next_offset)
OVERRIDING SYSTEM VALUE
SELECT q.n, q.name, 'topic_' || q.name, 4, CASE q.name WHEN 'several' THEN 'concurrent' ELSE 'serial' END,
       CASE q.name WHEN 'kept' THEN 3 END,
       '1 minute', 999999999, 1000000000
FROM unnest(ARRAY['chain', 'wide', 'several', 'external', 'kept', 'fresh', 'refusing', 'ending', 'stopping'])
     WITH ORDINALITY AS q (name, n);
INSERT INTO lockstep.executor (executor_no, executor_id, host, pid, version, readers, queues, ended_at, ended_why)
OVERRIDING SYSTEM VALUE
SELECT n, uid(n), 'h', n, '1', 4, ARRAY['chain', 'wide', 'several', 'external'],
       CASE WHEN n = 3 THEN clock_timestamp() - interval '1 day' END, 'drained'
FROM generate_series(1, 3) AS n; -- 1 lives, 2 is dead and not seen to be, 3 has ended
INSERT INTO lockstep.slot (slot_id, queue_id, slot_no) OVERRIDING SYSTEM VALUE
SELECT n, 2, n FROM generate_series(1, 4) AS n;

INSERT INTO lockstep.run (run_no, run_id, queue_id, on_failure, status, first_offset, end_offset, last_phase_id,
                          last_order, last_previous_order, tasks, phases,
                          started_at, next_seq, events, published_at, publish_acked_seq) OVERRIDING SYSTEM VALUE
SELECT r.no, uid(r.no), r.queue, r.policy, r.status, r.no * 1000, r.ends, r.last, r.ord, r.previous, 10, 2,
       clock_timestamp(), 1000, false, clock_timestamp(), 5
FROM (VALUES (100001, 1, 'stop', 'Running', NULL::bigint, 12, 1000012, 1000011),
             (100002, 2, 'stop', 'Running', NULL, 22, 1000022, 1000021),
             (100003, 3, 'continue', 'Running', NULL, 32, 1000032, 1000031),
             (100004, 4, 'stop', 'Running', NULL, 41, 1000041, 0),
             (100008, 8, 'stop', 'Running', 100008900, 81, 1000081, 0),
             (100009, 9, 'stop', 'Running', 100009900, 93, 1000093, 1000092))
    AS r (no, queue, policy, status, ends, last, ord, previous);
INSERT INTO lockstep.run (run_no, run_id, queue_id, on_failure, status, first_offset, end_offset, tasks, phases,
                          started_at, ended_at)
OVERRIDING SYSTEM VALUE
SELECT n, uid(n), 5, 'stop', 'Completed', n * 1000, n * 1000 + 9, 2, 1, clock_timestamp() - interval '2 days',
       clock_timestamp() - interval '1 day'
FROM generate_series(100051, 100055) AS n;
-- One that failed, to be retried: it is the last one of its queue.
INSERT INTO lockstep.run (run_no, run_id, queue_id, on_failure, status, first_offset, end_offset, tasks, phases,
                          started_at, ended_at, last_phase_id, last_order, stop_after)
OVERRIDING SYSTEM VALUE
VALUES (100070, uid(100070), 7, 'stop', 'Failed', 100070000, 100070009, 2, 2, clock_timestamp(), clock_timestamp(),
        72, 1000072, 1000071);

INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, previous_phase_id, opened_at,
                            done_at, external)
OVERRIDING SYSTEM VALUE
SELECT p.id, p.run, p.queue, 1000000 + p.id, CASE WHEN p.before IS NULL THEN 0 ELSE 1000000 + p.before END, p.before,
       CASE WHEN p.open OR p.done THEN clock_timestamp() END, CASE WHEN p.done THEN clock_timestamp() END,
       p.run = 100004
FROM (SELECT n AS id, 100001 AS run, 1 AS queue, CASE WHEN n > 1 THEN n - 1 END AS before, n = 2 AS open,
             n = 1 AS done
      FROM generate_series(1, 12) AS n
      UNION ALL
      VALUES (21, 100002, 2, NULL, true, false), (22, 100002, 2, 21, false, false), (31, 100003, 3, NULL, true, false),
             (32, 100003, 3, 31, false, false), (41, 100004, 4, NULL, true, false), (81, 100008, 8, NULL, true, false),
             (91, 100009, 9, NULL, true, false), (92, 100009, 9, 91, false, false), (93, 100009, 9, 92, false, false),
             (71, 100070, 7, NULL, true, true), (72, 100070, 7, 71, false, true))
    AS p (id, run, queue, before, open, done);
INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, opened_at, done_at)
OVERRIDING SYSTEM VALUE
SELECT n - 100000, n, 5, 100, 0, clock_timestamp(), clock_timestamp() FROM generate_series(100051, 100055) AS n;

INSERT INTO lockstep.task (task_id, phase_id, run_no, queue_id, status, type, "order", seq, kafka_offset, payload,
    executor_no, token, attempt_num, max_attempts, lost_num, started_at, duration, scheduled_for, lease_until, worker)
OVERRIDING SYSTEM VALUE
SELECT t.id, p.phase_id, p.run_no, p.queue_id, t.status::lockstep.status, t.type, p."order", t.id % 1000,
       p.run_no * 1000 + t.id % 1000, '{"sql": "SELECT 1"}', t.owner,
       CASE WHEN t.owner IS NOT NULL AND t.status IN ('Pending', 'Processing') THEN uid(t.id) END, 1, 3, 0,
       CASE WHEN t.status <> 'Pending' THEN clock_timestamp() END,
       CASE WHEN t.status = 'Completed' THEN interval '1 ms' END,
       CASE WHEN t.status = 'Error' THEN clock_timestamp() + interval '1 hour' END,
       CASE WHEN t.type = 'external' AND t.status = 'Processing' THEN clock_timestamp() + interval '1 hour' END,
       CASE WHEN t.type = 'external' AND t.status = 'Processing' THEN 'w' END
FROM (SELECT 100 + n AS id, n AS phase, CASE WHEN n <= 2 THEN 'Completed' ELSE 'Pending' END AS status, 'sql' AS type,
             1 AS owner
      FROM generate_series(1, 12) AS n
      UNION ALL SELECT 200 + n, 21, 'Pending', 'sql', CASE WHEN n <= 10 THEN 1 WHEN n <= 20 THEN 2 END
      FROM generate_series(1, 30) AS n
      UNION ALL
      VALUES (231, 21, 'Processing', 'sql', 1), (232, 21, 'Error', 'sql', NULL), (240, 22, 'Pending', 'sql', 1),
             (301, 31, 'Pending', 'sql', 1), (302, 32, 'Pending', 'sql', 1),
             (401, 41, 'Processing', 'external', NULL), (402, 41, 'Pending', 'external', NULL),
             (801, 81, 'Completed', 'sql', 1), (901, 91, 'Pending', 'sql', 1), (902, 92, 'Pending', 'sql', 1),
             (903, 93, 'Pending', 'sql', 1),
             (701, 71, 'Failed', 'sql', 1), (702, 72, 'Cancelled', 'sql', NULL)) AS t (id, phase, status, type, owner)
JOIN lockstep.phase p ON p.phase_id = t.phase;
INSERT INTO lockstep.task (task_id, phase_id, run_no, queue_id, status, "order", seq, kafka_offset, payload,
                           executor_no, attempt_num, started_at, duration)
OVERRIDING SYSTEM VALUE
SELECT 500 + n * 2 + i, 50 + n, 100050 + n, 5, 'Completed', 100, i, 0, '{"sql": "SELECT 1"}', 1, 1, clock_timestamp(),
       '1 ms'
FROM generate_series(1, 5) AS n, generate_series(0, 1) AS i;
UPDATE lockstep.task SET updated_at = '2026-01-01' WHERE task_id = 401; -- its token
INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, error)
VALUES (701, 1, 'Failed', 1, clock_timestamp(), clock_timestamp(), 'e');
INSERT INTO lockstep.rejected_message (rejected_id, queue_id, kafka_offset, run_no, seq, reason, detail, raw)
OVERRIDING SYSTEM VALUE
SELECT n, 7, n, CASE WHEN n = 1 THEN 100070 END, n, 'bad_json', 'd', '\x00' FROM generate_series(1, 5) AS n;
INSERT INTO lockstep.outbox (outbox_id, queue_id, kind, value, uid, relay_seq) OVERRIDING SYSTEM VALUE
SELECT n, 7, 'dlq', '\x00', uid(n), n FROM generate_series(1, 3) AS n;
INSERT INTO lockstep.relay (queue_id, kind, last_seq) VALUES (7, 'dlq', 3), (7, 'enqueue', 0);
INSERT INTO lockstep.enqueued (enqueue_id, queue_id, run_no, run_id, messages, phases, bytes, floor_offset)
OVERRIDING SYSTEM VALUE
SELECT n, 7, 200000 + n, uid(200000 + n), ARRAY['{}'], 1, 2, 0 FROM generate_series(1, 3) AS n;
INSERT INTO lockstep.event_log (event_id, event, queue_id, run_no, detail) OVERRIDING SYSTEM VALUE
SELECT n, 'run_started', 1, 100001, 'd' FROM generate_series(1, 5) AS n;
INSERT INTO lockstep.replay (replay_id, queue_id, mode, from_offset, to_offset, cursor, reason) OVERRIDING SYSTEM VALUE
VALUES (1, 2, 'failed', 0, 200000000, 100002000, 'r');

INSERT INTO lockstep.job (job_id, name, is_watch, spec, enabled, overlap, zombie_after) OVERRIDING SYSTEM VALUE
VALUES (9999, 'watched', true, '{}', true, 'skip', '30 min');
INSERT INTO lockstep.schedule (schedule_id, job_id, name, spec, rule, is_active, misfire, catchup_window, jitter,
                               next_at)
OVERRIDING SYSTEM VALUE
SELECT 9999, 9999, 's', '{}', lockstep.rule_of('{"kind": "interval", "every": "1h"}'), true, 'once', '1 h', '0',
       now() - interval '1 s';
-- A job with a trigger, for which a token is out.
CREATE TABLE IF NOT EXISTS public.waiting ();
INSERT INTO lockstep.job (job_id, name, queue_id, spec, enabled, overlap, zombie_after) OVERRIDING SYSTEM VALUE
SELECT 9998, 'rows', 6,
       '{"job": "rows", "queue": "fresh", "tasks": [{"order": 1, "sql": "SELECT 1"}], "trigger": {"on": '
       '"public.waiting", "threshold": 1}}',
       true, 'allow', '30 min';
INSERT INTO lockstep.schedule (schedule_id, job_id, name, spec, rows_rule, is_active, misfire, catchup_window, jitter,
                               next_at, wake_at, uses_sql, asked_until, look)
OVERRIDING SYSTEM VALUE
SELECT 9998, 9998, 'trigger', '{}',
       ROW('public.waiting', 'true', NULL, '10 s', 1, NULL, NULL, NULL, NULL, NULL)::lockstep.rows_rule, true, 'once',
       '1 h', '0',
    now() - interval '1 min', now() - interval '1 min', true, now() + interval '1 h',
    ROW(now(), 5, NULL, NULL, 0, NULL)::lockstep.rows_look;
INSERT INTO lockstep.job_ask (token, job_id, schedule_id, scheduled_for, run_id, asked_at, source, asked_by)
SELECT uid(9998), 9998, 9998, (s.look).at, uid(9999), (s.look).at, 'r', 'd' FROM lockstep.schedule s
WHERE s.schedule_id = 9998;
-- Jobs 1 to 10, with one schedule each, of which one is due; the first one's run is open.
INSERT INTO lockstep.job (job_id, name, queue_id, spec, enabled, overlap, zombie_after) OVERRIDING SYSTEM VALUE
SELECT n, 'job' || n, 6,
       jsonb_build_object('job', 'job' || n, 'queue', 'fresh', 'tasks', '[{"order": 1, "sql": "SELECT 1"}]'::jsonb,
    'schedules', '[{"name": "s", "kind": "interval", "every": "1h"}]'::jsonb), true, 'allow', '30 min'
FROM generate_series(1, 10) AS n;
INSERT INTO lockstep.schedule (schedule_id, job_id, name, spec, rule, is_active, misfire, catchup_window, jitter,
                               next_at, wake_at)
OVERRIDING SYSTEM VALUE
SELECT n, n, 's', '{"name": "s", "kind": "interval", "every": "1h"}',
       lockstep.rule_of('{"kind": "interval", "every": "1h"}'), true, 'once', '1 h', '0',
    now() + (n % 1000 + 1) * interval '1 h' - CASE n WHEN 2 THEN interval '3 h 1 s' ELSE '0' END,
    now() + (n % 1000 + 1) * interval '1 h' - CASE n WHEN 2 THEN interval '3 h 1 s' ELSE '0' END
FROM generate_series(1, 10) AS n;
INSERT INTO lockstep.job_occurrence (occurrence_id, job_id, schedule_id, scheduled_for, outcome, source, run_id,
                                     dispatcher)
OVERRIDING SYSTEM VALUE
SELECT j * 100 + n, j, j, now() - n * interval '1 h', 'fired', 'schedule s', uid(j::bigint * 1000000 + n), 'd'
FROM generate_series(1, 10) AS j, generate_series(1, 5) AS n;
INSERT INTO lockstep.monitor_process (who, host, login, started_at, looked_at, every)
VALUES ('m', 'h', 'ops', now(), now(), '1 minute');
INSERT INTO lockstep.monitor_receiver (who, receiver, jobs, hold)
VALUES ('m', 'ops', '{*}', '0 s'), ('m', 'chat', '{job*}', '0 s');
INSERT INTO lockstep.job_alert (alert_id, job, kind, seen_at, last_seen_at, opened_at) OVERRIDING SYSTEM VALUE
VALUES (1, 'watched', 'missed', now(), now(), now());
INSERT INTO lockstep.job_notice (notice_id, alert_id, receiver, notice, number, made_at, due_at, attempts)
OVERRIDING SYSTEM VALUE VALUES (1, 1, 'ops', 'opened', 0, now(), now(), 1);
INSERT INTO lockstep.job_event (job_event_id, job, event, source) OVERRIDING SYSTEM VALUE
SELECT j * 100 + n, 'job' || j, 'fired', 'schedule s' FROM generate_series(1, 10) AS j, generate_series(1, 5) AS n;

\endif
\if :many

-- Runs that have ended: 3,000 of the first queue, 3,000 of the one that keeps few.
INSERT INTO lockstep.run (run_no, run_id, queue_id, on_failure, status, first_offset, end_offset, tasks, phases,
                          last_phase_id, started_at, ended_at)
OVERRIDING SYSTEM VALUE
SELECT q.queue * 10000 + n, uid(q.queue * 10000 + n), q.queue, 'stop', 'Completed', n * 1000, n * 1000 + 999, 10, 1,
       q.queue * 10000 + n, clock_timestamp() - interval '2 days', clock_timestamp() - interval '1 day'
FROM (VALUES (1), (5)) AS q (queue), generate_series(1, 3000) AS n;
INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, opened_at, done_at)
OVERRIDING SYSTEM VALUE
SELECT run_no, run_no, queue_id, 100, 0, clock_timestamp(), clock_timestamp() FROM lockstep.run WHERE run_no < 100000;
-- The rows of runs whose tasks are deleted stay.
INSERT INTO lockstep.run (run_no, run_id, queue_id, on_failure, status, first_offset, end_offset, tasks, phases,
                          started_at, ended_at, swept)
OVERRIDING SYSTEM VALUE
SELECT 40000 + n, uid(40000 + n), 5, 'stop', 'Completed', 10000 + n * 10, 10000 + n * 10 + 9, 10, 1,
       clock_timestamp() - interval '3 days', clock_timestamp() - interval '3 days', true
FROM generate_series(1, 100) AS n;
INSERT INTO lockstep.run_summary (run_no, tasks, completed, begun_at, swept_at)
SELECT 40000 + n, 10, 10, clock_timestamp(), clock_timestamp() FROM generate_series(1, 100) AS n;
-- The chain's phases so far: 10,000 before those of the first part. Three of every four are like a wide phase, a run
-- that ends and a run that stops have had.
INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, opened_at, done_at)
OVERRIDING SYSTEM VALUE
SELECT 200000 + n, r.run, r.queue, n, n - 1, clock_timestamp(), clock_timestamp()
FROM (VALUES (100001, 1, 0), (100008, 8, 10000), (100009, 9, 15000)) AS r (run, queue, first),
     generate_series(1, 20000) AS n
WHERE n > r.first AND n <= r.first + CASE r.run WHEN 100001 THEN 10000 ELSE 5000 END;
-- 2,000 runs at once, of two phases each.
INSERT INTO lockstep.run (run_no, run_id, queue_id, on_failure, status, first_offset, tasks, phases, last_phase_id,
                          last_order, started_at)
OVERRIDING SYSTEM VALUE
SELECT 300000 + n, uid(300000 + n), 3, 'continue', 'Running', 300000000 + n * 10, 5, 2, 310000 + n, 200,
       clock_timestamp()
FROM generate_series(1, 2000) AS n;
INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, previous_phase_id, opened_at)
OVERRIDING SYSTEM VALUE
SELECT 300000 + i * 10000 + n, 300000 + n, 3, (i + 1) * 100, i * 100, CASE i WHEN 1 THEN 300000 + n END,
       CASE i WHEN 0 THEN clock_timestamp() END
FROM generate_series(1, 2000) AS n, generate_series(0, 1) AS i;
-- Tasks: ten of each run that has ended, one of each phase of a chain, five of each of the runs at once, the wide
-- phases'.
INSERT INTO lockstep.task (task_id, phase_id, run_no, queue_id, status, type, "order", seq, kafka_offset, payload,
                           executor_no, token, attempt_num, started_at, duration, worker)
OVERRIDING SYSTEM VALUE
SELECT 1000000 + row_number() OVER (), t.phase_id, t.run_no, t.queue_id, t.status::lockstep.status, t.type, t."order",
       t.i, t.i, '{"sql": "SELECT 1"}',
       CASE WHEN t.type = 'sql' THEN 1 END, CASE WHEN t.status = 'Pending' AND t.type = 'sql' THEN uid(t.i) END, 1,
       clock_timestamp() - interval '1 hour', interval '1 ms', CASE WHEN t.type = 'external' THEN 'w' END
FROM (SELECT p.phase_id, p.run_no, p.queue_id, 'Completed' AS status, 'sql' AS type, p."order", i
      FROM lockstep.phase p, generate_series(1, 10) AS i
      WHERE p.phase_id BETWEEN 10000 AND 100000
      UNION ALL
      SELECT p.phase_id, p.run_no, p.queue_id, 'Completed', 'sql', p."order", 1 FROM lockstep.phase p
      WHERE p.phase_id BETWEEN 200000 AND 300000
      UNION ALL
      SELECT p.phase_id, p.run_no, p.queue_id, 'Pending', 'sql', p."order", i
      FROM lockstep.phase p, generate_series(1, 3) AS i WHERE p.phase_id BETWEEN 300001 AND 320000
      UNION ALL
      SELECT p.phase_id, p.run_no, p.queue_id, 'Completed', CASE p.phase_id WHEN 41 THEN 'external' ELSE 'sql' END,
             p."order", i
      FROM lockstep.phase p, generate_series(1, 80000) AS i WHERE p.phase_id = 21 OR (p.phase_id = 41 AND i <= 20000))
    AS t;
UPDATE lockstep.run SET tasks = 80034 WHERE run_no = 100002;
-- External tasks that wait, of a run behind.
INSERT INTO lockstep.run (run_no, run_id, queue_id, on_failure, status, first_offset, tasks, phases, last_phase_id,
                          last_order, started_at)
OVERRIDING SYSTEM VALUE
VALUES (100044, uid(100044), 4, 'stop', 'Running', 100044000, 100, 1, 44, 100, clock_timestamp());
INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, opened_at, external)
OVERRIDING SYSTEM VALUE
VALUES (44, 100044, 4, 100, 0, clock_timestamp(), true);
INSERT INTO lockstep.task (task_id, phase_id, run_no, queue_id, type, "order", seq, kafka_offset, payload)
OVERRIDING SYSTEM VALUE
SELECT 2000000 + n, 44, 100044, 4, 'external', 100, n, 100044000 + n, '{"sql": "SELECT 1"}'
FROM generate_series(1, 100) AS n;
INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, error)
SELECT t.task_id, 1, 'Error', 1, clock_timestamp(), clock_timestamp(), 'e' FROM lockstep.task t
WHERE t.task_id % 20 = 0;
INSERT INTO lockstep.executor (executor_no, executor_id, host, pid, version, readers, queues, ended_at, ended_why)
OVERRIDING SYSTEM VALUE
SELECT n, uid(n), 'h', n, '1', 4, ARRAY['chain'], clock_timestamp() - interval '1 day', 'killed'
FROM generate_series(1001, 4000) AS n;
INSERT INTO lockstep.rejected_message (rejected_id, queue_id, kafka_offset, seq, reason, detail, raw)
OVERRIDING SYSTEM VALUE
SELECT n, 1 + n % 7, n, n, 'bad_json', 'd', '\x00' FROM generate_series(1001, 11000) AS n;
INSERT INTO lockstep.outbox (outbox_id, queue_id, kind, value, uid, relay_seq) OVERRIDING SYSTEM VALUE
SELECT n, 7, 'dlq', '\x00', uid(n), NULL FROM generate_series(1001, 6000) AS n;
INSERT INTO lockstep.enqueued (enqueue_id, queue_id, run_no, run_id, messages, phases, bytes, floor_offset)
OVERRIDING SYSTEM VALUE
SELECT n, 7, 200000 + n, uid(200000 + n), ARRAY['{}'], 1, 2, 0 FROM generate_series(1001, 3000) AS n;
INSERT INTO lockstep.idempotency_key (queue_id, key, task_id, run_id, kafka_offset)
SELECT t.queue_id, 'k' || t.task_id, t.task_id, uid(t.run_no), t.kafka_offset FROM lockstep.task t
WHERE t.task_id % 20 = 1;
INSERT INTO lockstep.event_log (event_id, event, queue_id, run_no, detail) OVERRIDING SYSTEM VALUE
SELECT n, 'phase_opened', CASE WHEN n % 2 = 0 THEN 1 ELSE 5 END,
       CASE WHEN n % 2 = 0 THEN 100001 ELSE 50000 + n % 3000 END, 'd'
FROM generate_series(1001, 51000) AS n;

-- Jobs 11 to 3010, with one schedule each, of which one is due; the first one's run is open.
INSERT INTO lockstep.job (job_id, name, queue_id, spec, enabled, overlap, zombie_after) OVERRIDING SYSTEM VALUE
SELECT n, 'job' || n, 6,
       jsonb_build_object('job', 'job' || n, 'queue', 'fresh', 'tasks', '[{"order": 1, "sql": "SELECT 1"}]'::jsonb,
    'schedules', '[{"name": "s", "kind": "interval", "every": "1h"}]'::jsonb), true, 'allow', '30 min'
FROM generate_series(11, 3010) AS n;
INSERT INTO lockstep.schedule (schedule_id, job_id, name, spec, rule, is_active, misfire, catchup_window, jitter,
                               next_at, wake_at)
OVERRIDING SYSTEM VALUE
SELECT n, n, 's', '{"name": "s", "kind": "interval", "every": "1h"}',
       lockstep.rule_of('{"kind": "interval", "every": "1h"}'), true, 'once', '1 h', '0',
    now() + (n % 1000 + 1) * interval '1 h' - CASE n WHEN 2 THEN interval '3 h 1 s' ELSE '0' END,
    now() + (n % 1000 + 1) * interval '1 h' - CASE n WHEN 2 THEN interval '3 h 1 s' ELSE '0' END
FROM generate_series(11, 3010) AS n;
INSERT INTO lockstep.job_occurrence (occurrence_id, job_id, schedule_id, scheduled_for, outcome, source, run_id,
                                     dispatcher)
OVERRIDING SYSTEM VALUE
SELECT j * 100 + n, j, j, now() - n * interval '1 h', 'fired', 'schedule s', uid(j::bigint * 1000000 + n), 'd'
FROM generate_series(11, 3010) AS j, generate_series(1, 10) AS n;
INSERT INTO lockstep.job_alert (alert_id, job, kind, seen_at, last_seen_at, opened_at, closed_at, ended)
OVERRIDING SYSTEM VALUE
SELECT n, 'job' || n, 'missed', now() - interval '20 days', now() - interval '20 days', now() - interval '20 days',
       now() - interval '20 days', 'recovered'
FROM generate_series(11, 3010) AS n;
INSERT INTO lockstep.job_notice (notice_id, alert_id, receiver, notice, number, made_at, due_at, attempts,
                                 delivered_at)
OVERRIDING SYSTEM VALUE
SELECT n * 2 + k, n, 'ops', (ARRAY['opened', 'closed'])[k + 1], 0, now() - interval '20 days',
       now() - interval '20 days', 1, now() - interval '20 days'
FROM generate_series(11, 3010) AS n, generate_series(0, 1) AS k;
INSERT INTO lockstep.job_event (job_event_id, job, event, source) OVERRIDING SYSTEM VALUE
SELECT j * 100 + n, 'job' || j, 'fired', 'schedule s' FROM generate_series(11, 3010) AS j, generate_series(1, 10) AS n;

\endif
SELECT setval(pg_get_serial_sequence('lockstep.' || c.relname, a.attname), 10000000)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind = 'r' AND a.attidentity <> '' \g /dev/null
