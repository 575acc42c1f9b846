-- What must not stop the others: a schedule whose time zone the server does not know any more, and a job log that
-- cannot be written.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');
\ir job.inc
SELECT lockstep.job_define(pg_temp.spec(name,
    '{"schedules": [{"name": "s", "kind": "daily", "times": ["06:00"], "zone": "Europe/Warsaw"}]}'))
FROM unnest('{gone,stays}'::text[]) AS name;
CREATE FUNCTION pg_temp.of(p_job text) RETURNS lockstep.schedule LANGUAGE sql AS $$
    SELECT s FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE j.name = p_job
$$;
-- The time zones of the server are others now.
UPDATE lockstep.schedule s SET rule.zone = 'Gone/Away' WHERE s.schedule_id = (pg_temp.of('gone')).schedule_id;
SELECT results_eq($$SELECT job, state, is_problem, detail FROM lockstep.job_health ORDER BY job$$,
    $$VALUES ('gone', 'failed', true, 'schedule s: time zone "Gone/Away" not recognized'),
             ('stays', 'ok', false, NULL)$$,
    'the health of every job is told, and names the schedule of the gone zone');
SELECT results_eq($$SELECT DISTINCT job_name FROM lockstep.job_forecast(NULL, '2041-01-01Z', NULL, 5)$$,
                  $$VALUES ('stays')$$, 'the forecast has the other');
SELECT lives_ok($$SELECT lockstep.monitor_compare(now(), '{}')$$, 'the monitor compares');
SELECT lives_ok($$SELECT lockstep.monitor_compare(now(), ARRAY(SELECT a.alert_id FROM lockstep.job_alert a))$$,
    'again');
SELECT results_eq($$SELECT job, kind, text FROM lockstep.job_alert WHERE opened_at IS NOT NULL$$,
    $$VALUES ('gone', 'failed', 'schedule s: time zone "Gone/Away" not recognized')$$, 'and opens an alert');
SELECT lockstep.schedule_add('gone', '{"name": "well", "kind": "interval", "every": "1h"}');
SELECT results_eq($$SELECT schedule, would_fire, verdict, split_part(reason, ':', 1) FROM lockstep.job_test('gone')
    ORDER BY schedule$$,
    $$VALUES ('s', false, 'error', 'time zone "Gone/Away" not recognized'),
             ('well', false, 'wait', 'next run not due yet')$$,
    'a test of the job names the schedule of the gone zone, and tests the other');
SELECT is((SELECT advice FROM lockstep.job_test('gone') WHERE schedule = 's'),
          'lockstep schedule set gone s --zone ZONE',
    'and says what to do');
SELECT lockstep.schedule_remove('gone', 'well');
-- Its time passes.
UPDATE lockstep.schedule s SET next_at = now() - interval '10 minutes', wake_at = now() - interval '10 minutes'
WHERE s.schedule_id = (pg_temp.of('gone')).schedule_id;
SELECT is((SELECT verdict FROM lockstep.dispatch('test')), 'error', 'its firing is an error');
UPDATE lockstep.schedule s SET wake_at = now() WHERE s.schedule_id = (pg_temp.of('gone')).schedule_id;
SELECT is((SELECT verdict FROM lockstep.dispatch('test')), 'error', 'and again');
SELECT is((pg_temp.of('gone')).next_at, now() - interval '10 minutes', 'the time stays undecided');
SELECT ok((pg_temp.of('gone')).wake_at > now() + interval '59 seconds', 'its next look is in a minute');
SELECT is((SELECT count(*) FROM lockstep.job_log WHERE job = 'gone' AND event = 'error'), 1::bigint,
          'the log says it once');
SELECT is((SELECT state FROM lockstep.job_health WHERE job = 'gone'), 'failed', 'it is failed, not missed');
-- The zone is there again.
UPDATE lockstep.schedule s SET rule.zone = 'Europe/Warsaw', wake_at = now()
WHERE s.schedule_id = (pg_temp.of('gone')).schedule_id;
SELECT is((SELECT verdict FROM lockstep.dispatch('test')), 'fire', 'a zone that is back fires the time that waited');
SELECT is((pg_temp.of('gone')).failing_since, NULL, 'and nothing fails any more');

-- A job whose zone or table is gone can be changed in all other fields, disabled, mended and deleted; it cannot be
-- enabled.
CREATE TABLE public.job_gone (id int);
GRANT SELECT ON public.job_gone TO lockstep_task;
SELECT lockstep.job_define(pg_temp.spec('zone',
    '{"schedules": [{"name": "s", "kind": "daily", "times": ["06:00"], "zone": "Europe/Warsaw"},
        {"name": "t", "kind": "interval", "every": "1h"}]}')),
       lockstep.job_define(pg_temp.spec('table', '{"trigger": {"on": "public.job_gone", "threshold": 1}}')),
       lockstep.job_define('{"job": "watch", "watch": true,
           "schedules": [{"name": "s", "kind": "daily", "times": ["06:00"], "zone": "Europe/Warsaw"}]}');
CREATE FUNCTION pg_temp.away(p_job text) RETURNS void LANGUAGE sql AS $$
    UPDATE lockstep.job SET spec = jsonb_set(spec, '{schedules,0,zone}', '"Gone/Away"') WHERE name = p_job;
    UPDATE lockstep.schedule s SET spec = jsonb_set(s.spec, '{zone}', '"Gone/Away"'), rule.zone = 'Gone/Away'
    FROM lockstep.job j WHERE j.job_id = s.job_id AND j.name = p_job AND s.name = 's';
$$;
SELECT pg_temp.away('zone'), pg_temp.away('watch');
DROP TABLE public.job_gone;
SELECT lives_ok(format('SELECT lockstep.job_set(%L, %L)', job, change),
                format('of job %s, which is gone, %s', job, change))
FROM unnest('{zone,table}'::text[]) AS job,
     unnest(ARRAY['{"description": "edited"}', '{"enabled": false}', '{"description": "again"}']) AS change;
SELECT is((SELECT count(*) FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
           WHERE j.name IN ('zone', 'table') AND (s.is_active OR s.next_at IS NOT NULL OR s.wake_at IS NOT NULL)),
          0::bigint, 'they are disabled');
SELECT throws_like($$SELECT lockstep.job_set('zone', '{"enabled": true}')$$,
    'job zone, schedule s: zone: "Gone/Away" is not the name of a time zone', 'without its zone it cannot be enabled');
SELECT throws_like($$SELECT lockstep.job_set('table', '{"enabled": true}')$$,
                   'trigger.on: there is no table or view ''public.job_gone''', 'nor without its table');
SELECT throws_like($$SELECT lockstep.schedule_set('zone', 't', '{"enabled": "no"}')$$,
    'job zone, schedule t: enabled: it is neither true nor false', 'enabled is true or false');
SELECT lives_ok($$SELECT lockstep.schedule_set('zone', 's', '{"enabled": false}'),
                         lockstep.schedule_set('zone', 's', '{"enabled": null}')$$,
                'its schedule can be disabled by itself');
SELECT lives_ok($$SELECT lockstep.schedule_set('zone', 't', '{"every": "2h"}')$$,
                'another schedule of it can be changed');
SELECT lives_ok($$SELECT lockstep.schedule_set('zone', 's', '{"zone": "Europe/Berlin"}')$$, 'another zone mends it');
SELECT lives_ok($$SELECT lockstep.job_set('zone', '{"enabled": true}')$$, 'then it can be enabled');
SELECT pg_temp.away('zone');
SELECT lives_ok($$SELECT lockstep.schedule_remove('zone', 's')$$, 'a schedule whose zone is gone can be removed');
SELECT lives_ok($$SELECT lockstep.job_set('table', '{"trigger": null}')$$, 'so can a trigger whose table is gone');
SELECT lives_ok(format('SELECT lockstep.job_delete(%L)', job), format('job %s can be deleted', job))
FROM unnest('{zone,table}'::text[]) AS job;
-- A report of work outside is taken all the same.
SELECT lives_ok($$SELECT lockstep.ping('watch')$$, 'a watch whose zone is gone reports');
UPDATE lockstep.schedule s SET next_at = now() - interval '1 h' FROM lockstep.job j
WHERE j.job_id = s.job_id AND j.name = 'watch';
SELECT lives_ok($$SELECT lockstep.ping('watch', 'fail', 'disk full'), lockstep.ping('watch')$$,
                'also when its time has passed');
SELECT results_eq($$SELECT o.scheduled_for = now() - interval '1 h', o.status, o.reason
                    FROM lockstep.occurrence o WHERE o.job = 'watch' ORDER BY o.fired_at$$,
    $$VALUES (false, 'Completed', NULL), (true, 'Failed', 'disk full'), (false, 'Completed', NULL)$$,
    'which the first report answers');
SELECT is((SELECT state || ': ' || detail FROM lockstep.job_health WHERE job = 'watch'),
          'failed: schedule s: time zone "Gone/Away" not recognized', 'its health names the zone');
SELECT lockstep.job_delete('watch');

-- Nothing is expected of a job whose only schedule a person disabled.
SELECT lockstep.job_define(pg_temp.spec('resting',
    '{"schedules": [{"name": "s", "kind": "daily", "times": ["06:00"], "enabled": false}]}'));
SELECT results_eq($$SELECT state, is_problem FROM lockstep.job_health WHERE job = 'resting'$$,
                  $$VALUES ('disabled', false)$$, 'a job whose schedules are disabled is no problem');
SELECT lockstep.job_define(pg_temp.spec('over',
    '{"schedules": [{"name": "s", "kind": "once", "at": "2041-01-01T00:00:00Z"},
        {"name": "t", "kind": "daily", "times": ["06:00"], "enabled": false}]}'));
UPDATE lockstep.schedule s SET next_at = NULL, wake_at = NULL FROM lockstep.job j
WHERE j.job_id = s.job_id AND j.name = 'over' AND s.name = 's';
SELECT results_eq($$SELECT state, is_problem FROM lockstep.job_health WHERE job = 'over'$$,
                  $$VALUES ('never', true)$$, 'one with an enabled schedule that has no time any more is never');

-- Nothing to come hides neither a run that failed nor a time that was missed.
CREATE FUNCTION pg_temp.last(p_outcome text, p_status text) RETURNS text LANGUAGE sql AS $$
    INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, status, ended_at, source,
                                         reason, dispatcher)
    SELECT s.job_id, s.schedule_id, now(), p_outcome, p_status,
           CASE WHEN p_status IS NOT NULL THEN clock_timestamp() END, 'schedule s', 'why', 'test'
    FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
    WHERE j.name = 'over' AND s.name = 's'
    ON CONFLICT (schedule_id, scheduled_for) DO UPDATE SET outcome = EXCLUDED.outcome, status = EXCLUDED.status,
    ended_at = EXCLUDED.ended_at;
    SELECT concat_ws(' ', state, is_problem, detail) FROM lockstep.job_health WHERE job = 'over'
$$;
SELECT is(pg_temp.last('fired', 'Failed'), 'failed t run  is Failed',
          'a job with nothing to come whose last run failed has failed');
SELECT is(pg_temp.last('missed', NULL), 'missed t schedule s: ' || lockstep.job_time(now()) || ' was missed: why',
          'one whose last time was missed has missed it');
SELECT is(pg_temp.last('error', NULL), 'failed t schedule s: why', 'one that could not fire has failed');
SELECT is(pg_temp.last('fired', 'Completed'), 'never t no schedule has a time to come',
          'one whose last run ended well is never');

-- A log that cannot be written.
CREATE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON lockstep.job_event FOR EACH ROW EXECUTE FUNCTION pg_temp.refuse();
UPDATE lockstep.schedule s SET next_at = now(), wake_at = now() WHERE s.schedule_id = (pg_temp.of('stays')).schedule_id;
SELECT is((SELECT verdict FROM lockstep.dispatch('test')), 'fire', 'a job fires although its log cannot be written');
SELECT is((SELECT count(*) FROM lockstep.occurrence o
           WHERE o.job = 'stays' AND o.outcome = 'fired' AND o.run_id IS NOT NULL),
          1::bigint, 'with its occurrence and its run');
SELECT * FROM finish();
ROLLBACK;
