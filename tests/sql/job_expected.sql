-- What the monitor expects of a job: how late it may be (grace), and how long its run may take (max_expected).
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');
INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
VALUES (gen_random_uuid(), 'h', 1, 'v', 1, '{q}');

\ir job.inc
CREATE FUNCTION pg_temp.health(name text) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', state, is_problem) FROM lockstep.job_health h WHERE h.job = name
$$;
-- The job's only schedule is late by p_late, not decided.
CREATE FUNCTION pg_temp.late(name text, p_late interval) RETURNS text LANGUAGE sql AS $$
    UPDATE lockstep.schedule s SET next_at = clock_timestamp() - p_late FROM lockstep.job j
    WHERE j.job_id = s.job_id AND j.name = late.name;
    SELECT pg_temp.health(name)
$$;
CREATE FUNCTION pg_temp.watch(name text, schedule jsonb) RETURNS int LANGUAGE sql AS $$
    SELECT lockstep.job_define(jsonb_build_object('job', name, 'watch', true,
        'schedules', jsonb_build_array(pg_temp.in_twelve_hours() || schedule)))
$$;

-- Grace.
SELECT pg_temp.watch('default', '{}'), pg_temp.watch('short', '{"grace": "20s"}'),
       pg_temp.watch('long', '{"grace": "3h"}'), pg_temp.watch('jittered', '{"grace": "20s", "jitter": "10m"}');
SELECT is(pg_temp.late(name, late), said, format('%s: a report that is %s late', name, late))
FROM (VALUES (1, 'default', interval '50 s', 'ok f'), (2, 'default', '61 min', 'missed t'),
             (3, 'short', '19 s', 'ok f'), (4, 'short', '21 s', 'missed t'), (5, 'long', '179 min', 'ok f'),
             (6, 'long', '181 min', 'missed t'),
             (7, 'jittered', '10 min', 'ok f'), (8, 'jittered', '11 min', 'missed t')) AS c (no, name, late, said)
ORDER BY no;
SELECT lockstep.ping('short'), lockstep.ping('long');
SELECT is(pg_temp.health('short'), 'late t', 'a report after the grace is late');
SELECT is(pg_temp.health('long'), 'late t', 'also of a long one');
SELECT pg_temp.late('short', '15 s'), pg_temp.late('long', '2 h'), lockstep.ping('short'), lockstep.ping('long');
SELECT is(pg_temp.health('short') || ', ' || pg_temp.health('long'), 'ok f, ok f', 'one within it is well');
SELECT is(pg_temp.watch('long', '{}') > 0 AND pg_temp.late('long', '61 min') = 'missed t', true,
          'without the field it is as before');
SELECT lockstep.job_define(pg_temp.spec('j',
    '{"schedules": [{"name": "s", "kind": "interval", "every": "1h", "grace": "10s"}]}'));
SELECT is(pg_temp.late('j', '5 s') || ', ' || pg_temp.late('j', '15 s'), 'ok f, missed t',
          'a job''s time that no dispatcher has decided');

-- max_expected.
SELECT lockstep.job_define(pg_temp.spec('r', '{"max_expected": "10m"}')), lockstep.job_define(pg_temp.spec('free')),
       lockstep.job_run('r'), lockstep.job_run('free');
UPDATE lockstep.run
SET first_offset = run_no, status = 'Running', started_at = now(), created_at = now() - interval '9 min';
SELECT is(pg_temp.health('r'), 'running f', 'a run that takes 9 minutes of 10 runs');
UPDATE lockstep.run SET created_at = now() - interval '11 min';
SELECT is(pg_temp.health('r'), 'stuck t', 'one that takes 11 is stuck');
SELECT matches((SELECT detail FROM lockstep.job_health WHERE job = 'r'), 'takes longer than 00:10:00$',
               'and says than what');
UPDATE lockstep.run SET reopened_at = now() - interval '9 min';
SELECT is(pg_temp.health('r'), 'running f', 'unless it was retried 9 minutes ago');
UPDATE lockstep.run SET reopened_at = now() - interval '11 min', created_at = now() - interval '3 h';
SELECT is(pg_temp.health('r'), 'stuck t', 'and is stuck 11 minutes after the retry');
SELECT is(pg_temp.health('free'), 'running f', 'without the field, and without good runs before, nothing is known');
INSERT INTO lockstep.job_occurrence (job_id, scheduled_for, decided_at, outcome, source, dispatcher, status, ended_at)
SELECT j.job_id, now() - n * interval '1 day', now() - n * interval '1 day', 'fired', 's', 'd', 'Completed',
       now() - n * interval '1 day' + interval '1 h'
FROM lockstep.job j, generate_series(1, 5) AS n WHERE j.name = 'r';
SELECT is(pg_temp.health('r'), 'stuck t', 'max_expected counts, whatever the runs before took');
SELECT lockstep.job_set('r', '{"max_expected": null}');
SELECT is(pg_temp.health('r'), 'running f', 'without it they count');
UPDATE lockstep.run SET reopened_at = NULL;
SELECT is(pg_temp.health('r'), 'stuck t', 'a run of 3 hours is longer than twice the hour that they took');
UPDATE lockstep.run SET reopened_at = now() - interval '1 min';
UPDATE lockstep.job_occurrence o SET decided_at = r.created_at FROM lockstep.run r WHERE r.run_id = o.run_id;
SELECT pg_temp.ends('r'), lockstep.job_run('r');
UPDATE lockstep.run SET created_at = now() - interval '3 h', first_offset = run_no, status = 'Running'
WHERE ended_at IS NULL;
SELECT is((SELECT min(o.duration) > interval '2 h' FROM lockstep.occurrence o
           WHERE o.job = 'r' AND o.source LIKE 'manual%' AND o.status = 'Completed'), true,
          'and one that was retried has ended, hours after it began');
SELECT is(pg_temp.health('r'), 'stuck t', 'which says nothing of how long a run takes');

SELECT throws_like(format('SELECT lockstep.job_define(%L)', spec), message, message)
FROM (VALUES (pg_temp.spec('x', '{"max_expected": "soon"}'), 'max_expected: "soon" is not a length of time'),
             (pg_temp.spec('x', '{"max_expected": "0s"}'), 'max_expected: 0s is not in the range'),
             (pg_temp.spec('x', '{"schedules": [{"name": "s", "kind": "interval", "every": "1h", "grace": "0s"}]}'),
              'job x, schedule s: grace: 0s is not in the range'),
             (pg_temp.spec('x', '{"schedules": [{"name": "s", "kind": "after", "job": "r", "grace": "1m"}]}'),
              'job x, schedule s: grace: what follows another job has no time%'),
             ('{"job": "w", "watch": true, "max_expected": "1h", "schedules": [{"name": "s", "kind": '
              '"interval", "every": "1h"}]}',
              'watch: %'))
    AS bad (spec, message);

-- The view computes no grace for a schedule that has no next time.
DELETE FROM lockstep.job_occurrence;
UPDATE lockstep.schedule SET next_at = NULL, wake_at = NULL;
SET LOCAL track_functions = 'pl';
SELECT isnt((SELECT count(h.state) FROM lockstep.job_health h JOIN lockstep.job j ON j.name = h.job
             JOIN lockstep.schedule s USING (job_id)), 0::bigint,
            'there are jobs with schedules that have no next time');
SELECT is((SELECT sum(f.calls) FROM pg_stat_xact_user_functions f WHERE f.funcname = 'rule_next'), NULL,
          'their grace is not computed');

SELECT * FROM finish();
ROLLBACK;
