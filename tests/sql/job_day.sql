-- The history of jobs: the log, the times, and sums of deleted rows (sql/functions/job/job_sweep.sql,
-- job_times_sweep.sql, lockstep.job_day).
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic, keep_failed_days) VALUES ('q', 't', 200);
SELECT lockstep.job_define(jsonb_build_object('job', name, 'queue', 'q',
                                              'tasks', '[{"order": 1, "sql": "SELECT 1"}]'::jsonb,
                                              'schedules', '[{"name": "s", "kind": "interval", "every": "1h"}]'::jsonb))
FROM unnest('{a,b}'::text[]) AS name;
DELETE FROM lockstep.job_event;
-- n times of a job, one an hour, the last one that many days ago; by hand: of no schedule.
CREATE FUNCTION pg_temp.times(name text, n int, days int, p_outcome text DEFAULT 'fired',
                              p_status text DEFAULT 'Completed', by_hand boolean DEFAULT false)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, decided_at, outcome, source, dispatcher,
                                         status, ended_at, missed_count, run_id)
    SELECT j.job_id, CASE WHEN NOT by_hand THEN s.schedule_id END, t.at, t.at + interval '2 s', p_outcome, 's', 'd',
           p_status, CASE WHEN p_status IS NOT NULL THEN t.at + interval '12 s' END, 1,
           CASE WHEN p_outcome = 'fired' THEN gen_random_uuid() END
    FROM lockstep.job j JOIN lockstep.schedule s USING (job_id), generate_series(0, n - 1) AS i,
         LATERAL (SELECT date_trunc('hour', now()) - days * interval '1 day' - i * interval '1 hour' AS at) t
    WHERE j.name = times.name
$$;
CREATE FUNCTION pg_temp.sweep() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    batch bigint;
    sum bigint := 0;
BEGIN
    LOOP
        batch := lockstep.job_sweep();
        sum := sum + batch;
        EXIT WHEN batch < 1000;
    END LOOP;
    RETURN sum;
END
$$;
CREATE FUNCTION pg_temp.kept(name text)
RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM lockstep.occurrence o WHERE o.job = kept.name $$;
CREATE FUNCTION pg_temp.sums(name text) RETURNS text LANGUAGE sql AS $$
    SELECT format(
        '%s times: %s fired, %s completed, %s failed, %s skipped, %s missed, %s errors, %s passed, %s, %s, %s',
        sum(times), sum(fired), sum(completed), sum(failed), sum(skipped), sum(missed),
        sum(errors), sum(passed), sum(duration), max(longest), max(latest)) FROM lockstep.job_day d
    WHERE d.job = sums.name
$$;

-- All of 90 days, whatever their number; of older ones the last 1,000 of a schedule.
SELECT pg_temp.times('a', 1500, 0);
SELECT is(pg_temp.sweep(), 0::bigint, 'all of 90 days is kept');
DELETE FROM lockstep.job_occurrence;
SELECT pg_temp.times('a', 900, 100);
SELECT is(pg_temp.sweep(), 0::bigint, 'and of what is older the last 1,000 of a schedule');
DELETE FROM lockstep.job_occurrence;
SELECT pg_temp.times('a', 3300, 100), pg_temp.times('b', 20, 100, by_hand => true);
SELECT pg_temp.sums('a') AS before \gset
SELECT is(pg_temp.sweep(), 2319::bigint, 'the others go, those by hand all but the newest one that completed');
SELECT is(pg_temp.kept('a') || ' ' || pg_temp.kept('b'), '1000 1',
          'in as many batches as it takes, one job after the other');
SELECT is(pg_temp.sums('a'), :'before', 'and the sums of the days are as before');
SELECT is(:'before'::text,
    '3300 times: 3300 fired, 3300 completed, 0 failed, 0 skipped, 0 missed, 0 errors, 3300 passed, 09:10:00, '
    '00:00:10, 00:00:02',
    'which they were');
SELECT is(pg_temp.sweep(), 0::bigint, 'then nothing more');
SELECT is((SELECT lockstep.job_words(j, NULL, 's', NULL, now(), now(), NULL) ->> 'last_success_at'
           FROM lockstep.job j WHERE j.name = 'b'),
          lockstep.job_time(date_trunc('hour', now()) - interval '100 days'), 'so its last success stays known');
SELECT pg_temp.times('b', 1, 99, 'fired', 'Failed', true), pg_temp.times('b', 1, 98, by_hand => true);
SELECT is(pg_temp.sweep(), 1::bigint, 'until there is a newer one');
DELETE FROM lockstep.job_occurrence;
SELECT is((SELECT sum(times) FROM lockstep.job_day WHERE job = 'b'), 20::numeric,
          'a job of which nothing is left has its sums');

-- Failed runs, times that did not fire, runs that have not ended.
DELETE FROM lockstep.job_day_swept;
SELECT pg_temp.times('a', 1000, 0), pg_temp.times('a', 5, 100, 'skipped', NULL),
       pg_temp.times('a', 5, 110, 'missed', NULL), pg_temp.times('a', 5, 120, 'error', NULL),
       pg_temp.times('a', 5, 130, 'fired', 'Failed'),
       pg_temp.times('a', 5, 210, 'fired', 'Failed'), pg_temp.times('a', 2, 220, 'fired', NULL),
       pg_temp.times('a', 1, 230, 'fired', NULL);
INSERT INTO lockstep.run (run_id, queue_id, on_failure, status)
SELECT o.run_id, q.queue_id, 'stop', 'Running'
FROM lockstep.queue q, (SELECT run_id FROM lockstep.job_occurrence ORDER BY scheduled_for LIMIT 1) o;
SELECT pg_temp.sums('a') AS before \gset
SELECT is(pg_temp.sweep(), 22::bigint, 'what was skipped, missed or an error goes, and what failed long ago');
SELECT is((SELECT string_agg(n || ' ' || COALESCE(status, 'open'), ', ') FROM (SELECT count(*) AS n, o.status
    FROM lockstep.job_occurrence o WHERE o.scheduled_for < now() - interval '90 days' GROUP BY 2 ORDER BY 1)
    AS k),
    '1 open, 5 Failed', 'a failure is kept as long as its queue says, and a run that has not ended is');
SELECT is(pg_temp.sums('a'), :'before', 'and the sums are as before');
SELECT is((SELECT format('%s %s %s %s %s', sum(skipped), sum(missed), sum(errors), sum(failed),
                         sum(fired) - sum(completed) - sum(failed))
           FROM lockstep.job_day WHERE job = 'a'),
          '5 5 5 10 3', 'each in its column');
SELECT lockstep.job_delete('a');
SELECT is((SELECT count(*) FROM lockstep.job_day WHERE job = 'a'), 0::bigint, 'a deleted job has none');

-- The log and the incidents.
DELETE FROM lockstep.job_event;
INSERT INTO lockstep.job_event (job, at, event)
SELECT 'x', now() - d * interval '1 day', 'fired' FROM unnest('{1,29,31,400}'::int[]) AS d;
INSERT INTO lockstep.job_alert (job, kind, seen_at, last_seen_at, opened_at, closed_at, ended)
SELECT 'x', 'missed', now(), now(), now(), now() - d * interval '1 day', 'recovered'
FROM unnest('{1,89,91}'::int[]) AS d;
SELECT is(lockstep.job_sweep('7 days', 1), 2::bigint, 'as many rows of each table as the caller says');
SELECT is(lockstep.job_sweep('7 days', 1000), 2::bigint,
          'the log is kept for as long as the configuration says, an incident for 90 days');
SELECT is((SELECT count(*) FROM lockstep.job_event) || ' ' || (SELECT count(*) FROM lockstep.job_alert), '1 2',
          'and no longer');
-- Jobs in turn.
DELETE FROM lockstep.job;
INSERT INTO lockstep.job (name, queue_id, spec, enabled, overlap, zombie_after)
SELECT 'j' || n, q.queue_id, '{}', true, 'skip', '30 min' FROM lockstep.queue q, generate_series(1, 45) AS n;
INSERT INTO lockstep.job_occurrence (job_id, scheduled_for, decided_at, outcome, source, dispatcher)
SELECT job_id, now() - interval '1 year', now() - interval '1 year', 'skipped', 's', 'd' FROM lockstep.job;
SELECT is(concat_ws(' ', lockstep.job_sweep(), lockstep.job_sweep(), lockstep.job_sweep(), lockstep.job_sweep()),
          '20 20 5 0', 'many jobs have their turns, and then it begins again');
SELECT * FROM finish();
ROLLBACK;
