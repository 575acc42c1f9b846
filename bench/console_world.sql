-- The tables behind a console that has been in use for a month: run by psql with -v runs=100000 -v jobs=10000. A run
-- has 90 tasks in 3 phases, but for three: one of 10,000 phases that is open, one whose open phase has 100,000 tasks,
-- and one of 20 phases with 25,000 tasks each. With 100,000 runs these are 9.7 million tasks; `more` makes them 10
-- million.
\set QUIET 1
SET session_replication_role = replica; -- no triggers: rows as they would have become
SET synchronous_commit = off;
SET maintenance_work_mem = '1GB';
SET jit = off;

CREATE FUNCTION uid(n bigint)
RETURNS uuid LANGUAGE sql IMMUTABLE AS $$ SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid $$;
CREATE TABLE public.waiting (id bigint, came timestamptz);

-- Indexes are made when the rows are there.
CREATE TEMP TABLE index_made AS
    SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS made FROM pg_index i
    WHERE i.indrelid IN ('lockstep.task'::regclass, 'lockstep.phase'::regclass, 'lockstep.run'::regclass)
      AND NOT i.indisunique;
SELECT format('DROP INDEX %s', name) FROM index_made \gexec

INSERT INTO lockstep.queue (queue_id, name, topic, max_readers, last_offset, next_offset) OVERRIDING SYSTEM VALUE
SELECT n, 'queue_' || lpad(n::text, 2, '0'), 'topic_' || n, 8, 99999999, 100000000 FROM generate_series(1, 20) AS n;
INSERT INTO lockstep.slot (slot_id, queue_id, slot_no) OVERRIDING SYSTEM VALUE
SELECT q * 8 + n, q, n FROM generate_series(1, 20) AS q, generate_series(1, 8) AS n;
INSERT INTO lockstep.executor (executor_no, executor_id, host, pid, version, readers, queues, ended_at, ended_why)
OVERRIDING SYSTEM VALUE
SELECT n, uid(n), 'host' || n % 8, n, '1', 8, ARRAY['queue_01', 'queue_02'],
       CASE WHEN n > 4 THEN now() - n * interval '1 hour' END, CASE WHEN n > 4 THEN 'drained' END
FROM generate_series(1, 500) AS n;

---- Runs: :runs that are alike, a twentieth in each queue; in queues 4 to 10 the newest one is open.
CREATE TEMP TABLE made AS
SELECT n AS run_no, 1 + n % 20 AS queue_id, now() - (:runs - n) * interval '26 s' - interval '30 s' AS began,
       CASE WHEN n > :runs - 20 AND n % 20 BETWEEN 3 AND 9 THEN 'Running' WHEN n % 50 = 7 THEN 'Failed'
            WHEN n % 100 = 9 THEN 'Cancelled' ELSE 'Completed' END AS status
FROM generate_series(1, :runs) AS n;
INSERT INTO lockstep.run (run_no, run_id, queue_id, name, on_failure, status, first_offset, end_offset, tasks, phases,
                          rejected, last_phase_id, last_order, last_previous_order,
                          next_seq, end_tasks, end_phases, published_at, created_at, started_at, ended_at, job_id,
                          started_by)
OVERRIDING SYSTEM VALUE
SELECT m.run_no, uid(m.run_no), m.queue_id, 'load ' || m.run_no, 'stop', m.status, m.run_no * 1000,
       m.run_no * 1000 + 91, 90, 3, 0, m.run_no * 4 + 2, 300, 200,
       91, 90, 3, m.began, m.began, m.began, CASE WHEN m.status <> 'Running' THEN m.began + interval '20 s' END,
       1 + m.run_no % :jobs, 'schedule hourly'
FROM made m;
INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, previous_phase_id, claimed_at,
                            opened_at, done_at)
OVERRIDING SYSTEM VALUE
SELECT m.run_no * 4 + i, m.run_no, m.queue_id, (i + 1) * 100, i * 100, CASE WHEN i > 0 THEN m.run_no * 4 + i - 1 END,
       m.began,
       CASE WHEN m.status <> 'Running' OR i < 2 THEN m.began + i * interval '6 s' END,
       CASE WHEN m.status <> 'Running' OR i < 1 THEN m.began + (i + 1) * interval '6 s' END
FROM made m, generate_series(0, 2) AS i;
INSERT INTO lockstep.task (task_id, phase_id, run_no, queue_id, status, "order", seq, kafka_offset, name, payload,
                           executor_no, attempt_num, max_attempts, started_at, duration, updated_at)
OVERRIDING SYSTEM VALUE
SELECT m.run_no * 90 + i * 30 + t, m.run_no * 4 + i, m.run_no, m.queue_id,
       (CASE WHEN m.status = 'Running' THEN (ARRAY['Completed',
           CASE WHEN t < 10 THEN 'Completed' WHEN t < 12 THEN 'Processing' ELSE 'Pending' END, 'Pending'])[i
               + 1]
             WHEN m.status = 'Failed' AND i = 1 AND t = 0 THEN 'Failed'
             WHEN m.status = 'Failed' AND i = 2 OR m.status = 'Cancelled' AND i > 0 THEN 'Cancelled'
             ELSE 'Completed' END)::lockstep.status,
       (i + 1) * 100, i * 30 + t, m.run_no * 1000 + i * 30 + t, 'step ' || i * 30 + t,
       '{"sql": "INSERT INTO target SELECT * FROM staging WHERE part = ' || t || '"}', 1 + t % 4, 1, 3,
       CASE WHEN m.status <> 'Running' OR i = 0 OR i = 1 AND t < 12
                THEN m.began + i * interval '6 s' + t * interval '0.18 s' END,
       CASE WHEN m.status <> 'Running' OR i = 0 OR i = 1 AND t < 10 THEN interval '0.17 s' END, m.began
FROM made m, generate_series(0, 2) AS i, generate_series(0, 29) AS t;

---- The three that are large; and one that fills up to ten million tasks.
CREATE TEMP TABLE large AS
SELECT x.*, :runs::bigint + x.n AS run_no, :runs::bigint * 10 + x.n * 100000 AS first_phase,
       :runs * 100::bigint + x.n * 1000000 AS first_task, now() - interval '50 minutes' AS began
FROM (VALUES (1, 1, 'chain', 10000, 10, true), (2, 2, 'wide', 1, 100000, true), (3, 3, 'large', 20, 25000, false),
             (4, 3, 'more', 300, 1000, false))
    AS x (n, queue_id, name, phases, tasks, is_open);
INSERT INTO lockstep.run (run_no, run_id, queue_id, name, on_failure, status, first_offset, end_offset, tasks, phases,
                          rejected, last_phase_id, last_order, last_previous_order,
                          next_seq, end_tasks, end_phases, published_at, created_at, started_at, ended_at)
OVERRIDING SYSTEM VALUE
SELECT l.run_no, uid(l.run_no), l.queue_id, l.name, 'stop', CASE WHEN l.is_open THEN 'Running' ELSE 'Completed' END,
       l.run_no * 1000, l.run_no * 1000 + 900, l.phases * l.tasks, l.phases, 0,
       l.first_phase + l.phases - 1, l.phases * 100, (l.phases - 1) * 100, l.phases * l.tasks + 1, l.phases * l.tasks,
       l.phases, l.began, l.began, l.began,
       CASE WHEN NOT l.is_open THEN l.began + interval '49 minutes' END
FROM large l;
INSERT INTO lockstep.phase (phase_id, run_no, queue_id, "order", previous_order, previous_phase_id, claimed_at,
                            opened_at, done_at)
OVERRIDING SYSTEM VALUE
SELECT l.first_phase + i, l.run_no, l.queue_id, (i + 1) * 100, i * 100,
       CASE WHEN i > 0 THEN l.first_phase + i - 1 END, l.began,
       CASE WHEN NOT l.is_open OR i <= l.phases - 5 OR l.phases = 1
                THEN l.began + i * interval '49 minutes' / l.phases END,
       CASE WHEN NOT l.is_open OR i < l.phases - 5 THEN l.began + (i + 1) * interval '49 minutes' / l.phases END
FROM large l, generate_series(0, l.phases - 1) AS i;
INSERT INTO lockstep.task (task_id, phase_id, run_no, queue_id, status, "order", seq, kafka_offset, name, payload,
                           executor_no, attempt_num, max_attempts, started_at, duration, updated_at)
OVERRIDING SYSTEM VALUE
SELECT l.first_task + i * l.tasks + t, l.first_phase + i, l.run_no, l.queue_id, s.status, (i + 1) * 100,
       i * l.tasks + t, l.run_no * 1000000 + i * l.tasks + t, 'step ' || t,
       '{"sql": "INSERT INTO target SELECT * FROM staging WHERE part = ' || t || '"}',
       CASE WHEN s.status <> 'Pending' OR t < l.tasks * 3 / 5 + 64 THEN 1 + t % 4 END, 1, 3,
       CASE WHEN s.status <> 'Pending' THEN l.began + (i + t / l.tasks::float8) * interval '49 minutes' / l.phases END,
       CASE WHEN s.status = 'Completed' THEN interval '49 minutes' / l.phases / l.tasks * 3.9 END, l.began
FROM large l CROSS JOIN generate_series(0, l.phases - 1) AS i CROSS JOIN generate_series(0, l.tasks - 1) AS t
CROSS JOIN LATERAL (SELECT (CASE WHEN NOT l.is_open OR l.phases > 1 AND i < l.phases - 5 OR l.phases = 1
                                 AND t < l.tasks * 3 / 5
                                     THEN 'Completed'
                                 WHEN l.phases = 1 AND t < l.tasks * 3 / 5 + 4 OR l.phases > 1 AND i = l.phases - 5
                                 AND t < 4
                                     THEN 'Processing'
                                 ELSE 'Pending' END)::lockstep.status AS status) s;
SELECT made FROM index_made \gexec

INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, sqlstate, error)
SELECT m.run_no * 90 + 30, 1, 'Failed', 1, m.began + interval '6 s', m.began + interval '7 s', '23505',
       'duplicate key value violates unique constraint "target_pkey"'
FROM made m WHERE m.status = 'Failed';
INSERT INTO lockstep.run_count (queue_id, status, runs)
SELECT r.queue_id, r.status, count(*) FROM lockstep.run r WHERE r.ended_at IS NOT NULL GROUP BY r.queue_id, r.status;
INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, at, detail)
SELECT x.event, x.queue_id, x.run_no, x.phase_id, x.at, x.detail
FROM (SELECT 'run_started' AS event, r.queue_id, r.run_no, NULL::bigint AS phase_id, r.started_at AS at,
             NULL AS detail
      FROM lockstep.run r WHERE r.started_at IS NOT NULL
      UNION ALL SELECT 'run_ended', r.queue_id, r.run_no, NULL, r.ended_at, r.status FROM lockstep.run r
      WHERE r.ended_at IS NOT NULL
      UNION ALL SELECT 'phase_opened', p.queue_id, p.run_no, p.phase_id, p.opened_at, NULL FROM lockstep.phase p
      WHERE p.opened_at IS NOT NULL) x
ORDER BY x.at;
INSERT INTO lockstep.event_log (event, queue_id, detail)
SELECT 'queue_created', n, 'max_readers 8' FROM generate_series(1, 20) AS n;
INSERT INTO lockstep.rejected_message (queue_id, kafka_offset, reason, detail, raw, rejected_at)
SELECT 1 + n % 20, n, 'bad_json', 'invalid character at ' || n, convert_to('{"sql": ', 'UTF8'),
       now() - (20000 - n) * interval '2 minutes'
FROM generate_series(1, 20000) AS n;
INSERT INTO lockstep.replay (queue_id, mode, from_offset, to_offset, cursor, reason, state, ended_at)
SELECT 1 + n % 20, 'failed', n, n + 10, n + 10, 'r', 'Completed', now() FROM generate_series(1, 500) AS n;

---- Jobs: each fires hourly; its last ten times are the runs above.
CREATE TEMP TABLE said AS SELECT r.no, r.spec, lockstep.rule_of(r.spec) AS rule
FROM (SELECT n AS no,
             CASE WHEN n % 2 = 0
                      THEN jsonb_build_object('name', 'hourly', 'kind', 'interval', 'every', '1h', 'phase', n || 'm')
                  ELSE jsonb_build_object('name', 'hourly', 'kind', 'cron', 'expr', n || ' * * * *') END AS spec
      FROM generate_series(0, 59) AS n) r;
INSERT INTO lockstep.job (job_id, name, queue_id, spec, enabled, overlap, zombie_after) OVERRIDING SYSTEM VALUE
SELECT n, 'job ' || lpad(n::text, 5, '0'), 1 + n % 20, jsonb_build_object('job', 'job ' || lpad(n::text, 5, '0'),
    'queue', 'queue', 'tasks', '[{"order": 1, "sql": "SELECT 1"}]'::jsonb),
       n % 100 <> 3,
       'allow', '30 min' FROM generate_series(1, :jobs) AS n;
INSERT INTO lockstep.schedule (schedule_id, job_id, name, spec, rule, is_active, misfire, catchup_window, jitter,
                               next_at, wake_at)
OVERRIDING SYSTEM VALUE
SELECT n, n, 'hourly', s.spec, s.rule, n % 100 <> 3, 'once', '1 h', '0',
       now() + interval '2 hours' + n % 3600 * interval '1 s', now() + interval '2 hours' + n % 3600 * interval '1 s'
FROM generate_series(1, :jobs) AS n JOIN said s ON s.no = n % 60;
INSERT INTO lockstep.schedule (schedule_id, job_id, name, spec, rows_rule, is_active, misfire, catchup_window, jitter,
                               uses_sql)
OVERRIDING SYSTEM VALUE
SELECT :jobs + n, n * 100, 'trigger', '{}',
       ROW('public.waiting', 'true', NULL, '10 s', 1, NULL, NULL, NULL, NULL, NULL)::lockstep.rows_rule, true, 'once',
       '1 h', '0', true
FROM generate_series(1, :jobs / 100) AS n;
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, decided_at, outcome, source, run_id,
                                     dispatcher, status, ended_at)
SELECT r.job_id, r.job_id, r.created_at - interval '5 ms', r.created_at, 'fired', 'schedule hourly', r.run_id, 'd',
       CASE WHEN r.ended_at IS NOT NULL THEN r.status END, r.ended_at
FROM lockstep.run r WHERE r.job_id IS NOT NULL ORDER BY r.run_no;
INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, decided_at, outcome, source, reason,
                                     dispatcher)
SELECT 1 + n % :jobs, 1 + n % :jobs, now() - n * interval '10 minutes' - interval '1 s',
       now() - n * interval '10 minutes', CASE WHEN n % 2 = 0 THEN 'missed' ELSE 'skipped' END, 'schedule hourly',
       'a run was open', 'd'
FROM generate_series(1, 2000) AS n;
INSERT INTO lockstep.job_event (job, at, event, source, message, run_id)
SELECT j.name, x.at, x.event, 'schedule hourly', x.message, o.run_id
FROM lockstep.job_occurrence o JOIN lockstep.job j USING (job_id)
CROSS JOIN LATERAL (VALUES (o.outcome, o.decided_at, o.reason), ('completed', o.ended_at, o.status))
    AS x (event, at, message)
WHERE x.at IS NOT NULL ORDER BY x.at;
INSERT INTO lockstep.job_alert (job, kind, since, seen_at, last_seen_at, opened_at, text, closed_at, ended)
SELECT 'job ' || lpad(n::text, 5, '0'), 'failed', b.at, b.at, b.at, b.at, 'run is Failed',
       CASE WHEN n % 10 <> 0 THEN b.at END, CASE WHEN n % 10 <> 0 THEN 'recovered' END
FROM generate_series(1, LEAST(:jobs, 2000)) AS n CROSS JOIN LATERAL (SELECT now() - n * interval '10 minutes' AS at) b;

SELECT setval(pg_get_serial_sequence('lockstep.' || c.relname, a.attname), 100000000)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind = 'r' AND a.attidentity <> ''
  AND c.relname IN ('queue', 'executor', 'slot', 'run', 'phase', 'task', 'job', 'schedule') \g /dev/null
VACUUM ANALYZE;
