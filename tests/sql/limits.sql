-- The limits of a queue's and a run's columns: triggers, which refuse as constraints do.
BEGIN;
SELECT no_plan();
\ir protocol.inc

CREATE FUNCTION pg_temp.refused(t text, c text, v text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    named text;
BEGIN
    EXECUTE format('UPDATE lockstep.%I SET %I = %s WHERE queue_id = pg_temp.q()', t, c, v);
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS named = CONSTRAINT_NAME;
    RETURN SQLSTATE || ' ' || named;
END
$$;
SELECT pg_temp.tell('A0:100<0');
SELECT is(pg_temp.refused(t, c, v), '23514 ' || t || '_' || c || '_check', format('%s.%s cannot be %s', t, c, v))
FROM (VALUES
    ('queue', 'name', ''''''), ('queue', 'name', '''.a'''), ('queue', 'partition', '-1'),
    ('queue', 'max_readers', '-1'), ('queue', 'max_readers', '1001'),
    ('queue', 'lookahead', '0'), ('queue', 'lookahead', '1001'), ('queue', 'on_failure', '''Stop'''),
    ('queue', 'runs', ''''''),
    ('queue', 'max_attempts', '0'), ('queue', 'default_attempts', '1001'), ('queue', 'max_lost', '0'),
    ('queue', 'external_lease', '''0'''),
    ('queue', 'external_lease', '''1001 hours'''), ('queue', 'retry_on', '''{every}'''), ('queue', 'keep_runs', '0'),
    ('queue', 'keep_days', '36501'),
    ('queue', 'keep_failed_days', '-1'), ('run', 'status', '''Done'''), ('run', 'on_failure', ''''''),
    ('run', 'publish_mode', '''both'''),
    ('run', 'publish_from', '''tape'''), ('run', 'publish_format', '''xml''')) AS bad (t, c, v);
SELECT is(pg_temp.refused(t, c, v), NULL, format('%s.%s may be %s', t, c, v))
FROM (VALUES
    ('queue', 'max_readers', '0'), ('queue', 'max_readers', '1000'), ('queue', 'lookahead', '1'),
    ('queue', 'max_attempts', 'NULL'),
    ('queue', 'retry_on', '''{-40001,all}'''), ('queue', 'external_lease', '''1 second'''),
    ('queue', 'keep_days', 'NULL'), ('run', 'publish_mode', 'NULL'),
    ('run', 'status', '''Paused''')) AS good (t, c, v);
SELECT throws_ok($$INSERT INTO lockstep.queue (name, topic, next_offset) VALUES ('q', 'q', -1)$$, '23514', NULL,
                 'an INSERT, too');
SELECT is((SELECT string_agg(c.conname, ', ') FROM pg_constraint c
           WHERE c.contype = 'c' AND c.conrelid IN ('lockstep.queue'::regclass, 'lockstep.run'::regclass,
                                                    'lockstep.phase'::regclass, 'lockstep.task'::regclass,
                                                    'lockstep.schedule'::regclass)),
          NULL, 'no CHECK on what claims, attempts and firings write: its text would be parsed in each of their '
                'statements');

-- A schedule is of one kind: a rule, the end of another job, or rows that wait.
SELECT lockstep.job_define(jsonb_build_object('job', 'first', 'queue', q.name) || '{
    "tasks": [{"order": 1, "sql": "SELECT 1"}], "schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}')
FROM lockstep.queue q WHERE q.queue_id = pg_temp.q();
SELECT throws_ok(format('UPDATE lockstep.schedule SET %s', change), '23514', NULL, 'a schedule with ' || change)
FROM (VALUES ('misfire = ''twice'''), ('rule = NULL'), ('after_job = job_id'), ('after_end = ''success'''),
             ('rule = NULL, after_job = job_id, after_end = ''never''')) AS bad (change);
SELECT lives_ok('UPDATE lockstep.schedule SET misfire = ''all''', 'a schedule with another misfire');

SELECT * FROM finish();
ROLLBACK;
