-- What follows another job: each of its ends is one occurrence, however many come before the dispatcher decides
-- (sql/functions/job/job_ended.sql).
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');
\ir job.inc
-- Each schedule that is due is decided: the decisions, in short.
CREATE FUNCTION pg_temp.dispatch() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    d record;
    said text;
BEGIN
    FOR i IN 1..50 LOOP
        SELECT * INTO d FROM lockstep.dispatch('test', clock_timestamp());
        EXIT WHEN d.verdict IS NULL;
        said := concat_ws(', ', said, concat_ws(' ', d.job, d.verdict));
    END LOOP;
    RETURN COALESCE(said, 'nothing');
END
$$;
-- The parent runs by hand, and ends.
CREATE FUNCTION pg_temp.parent(p_status text DEFAULT 'Completed') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lockstep.job_run('parent');
    PERFORM pg_temp.ends('parent', p_status);
END
$$;
CREATE FUNCTION pg_temp.child(job jsonb DEFAULT '{}', schedule jsonb DEFAULT '{}') RETURNS void LANGUAGE sql AS $$
    DELETE FROM lockstep.job WHERE name = 'child';
    UPDATE lockstep.run SET status = 'Completed', ended_at = clock_timestamp() WHERE ended_at IS NULL;
    SELECT lockstep.job_define(pg_temp.spec('child', job || jsonb_build_object('schedules',
        jsonb_build_array('{"name": "s", "kind": "after", "job": "parent"}'::jsonb || schedule))));
$$;
-- The occurrences of the child, oldest first, and whether each is of another run of the parent.
CREATE FUNCTION pg_temp.occurred() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(o.outcome, ' ' ORDER BY o.scheduled_for) || CASE WHEN bool_and(EXISTS (
        SELECT FROM lockstep.job_occurrence p JOIN lockstep.job j USING (job_id)
        WHERE j.name = 'parent' AND p.scheduled_for = o.scheduled_for))
        THEN ''
        ELSE ' of other times' END
    FROM lockstep.job_occurrence o JOIN lockstep.job j USING (job_id) WHERE j.name = 'child'
$$;
SELECT lockstep.job_define(pg_temp.spec('parent'));

SELECT pg_temp.child('{"overlap": "allow"}'), pg_temp.parent(), pg_temp.parent(), pg_temp.parent();
SELECT is(pg_temp.dispatch(), 'child fire, child fire, child fire',
          'three ends before the dispatcher decides fire three times');
SELECT is(pg_temp.occurred(), 'fired fired fired', 'each for the time of its own run of the parent');
SELECT is((SELECT count(*) FROM lockstep.job_end), 0::bigint, 'and none is left');
SELECT pg_temp.parent(), pg_temp.dispatch();
SELECT is(pg_temp.occurred(), 'fired fired fired fired', 'a later end fires as before');

SELECT pg_temp.child(), pg_temp.parent(), pg_temp.parent();
SELECT is(pg_temp.dispatch(), 'child fire, child skip', 'overlap skip: the second end meets the run of the first');
SELECT is((SELECT reason ~ '^run .* of the job is' FROM lockstep.job_occurrence o JOIN lockstep.job j USING (job_id)
           WHERE j.name = 'child' AND o.outcome = 'skipped'),
          true, 'which the occurrence names');
SELECT pg_temp.parent();
SELECT is(pg_temp.dispatch(), 'child skip', 'and so does an end that comes while the run is open');

SELECT pg_temp.child('{"overlap": "queue_one"}'), pg_temp.parent(), pg_temp.parent(), pg_temp.parent();
SELECT is(pg_temp.dispatch(), 'child fire, child queue, child skip',
          'queue_one: the second waits for the run, and the third finds that one waits');
SELECT pg_temp.ends('child');
SELECT is(pg_temp.dispatch(), 'child fire', 'which fires when the run has ended');
SELECT is(pg_temp.occurred(), 'fired fired skipped', 'each end has its occurrence');

-- With misfire all an end that is late waits for the run, and later ones wait behind it.
SELECT pg_temp.child('{}', '{"misfire": "all"}'), pg_temp.parent(), pg_temp.parent(), pg_temp.parent();
UPDATE lockstep.job_end SET scheduled_for = scheduled_for - interval '1 h';
SELECT is(pg_temp.dispatch(), 'child fire, child wait', 'misfire all: a late end waits');
SELECT pg_temp.ends('child');
SELECT is(pg_temp.dispatch(), 'child fire, child wait', 'until the run has ended');
SELECT pg_temp.ends('child');
SELECT is(pg_temp.dispatch(), 'child fire', 'and the last one after it');

-- A look of the dispatcher that comes earlier, or later, leaves the moment at which an end is due alone.
SELECT pg_temp.child('{}', '{"jitter": "10m"}'), pg_temp.parent(), lockstep.job_run('child'), pg_temp.ends('child');
SELECT is(pg_temp.dispatch(), 'child wait', 'a run of its own that ends meanwhile does not shorten its jitter');
SELECT pg_temp.child('{"overlap": "queue_one"}', '{"catchup_window": "1h"}'), pg_temp.parent(), pg_temp.parent();
SELECT is(pg_temp.dispatch(), 'child fire, child queue', 'one end waits');
SELECT pg_temp.parent(), pg_temp.ends('child');
UPDATE lockstep.schedule SET next_at = next_at - interval '5 h' WHERE after_job IS NOT NULL; -- the parent took so long
SELECT pg_temp.breaks('child');
SELECT is(pg_temp.dispatch(), 'child error, child error',
          'it cannot fire, and the end behind it is not missed by that');
SELECT pg_temp.child('{}', '{"catchup_window": "1h"}'), pg_temp.parent();
UPDATE lockstep.schedule SET due_at = due_at - interval '2 h' WHERE after_job IS NOT NULL; -- it was tried since then
SELECT is(pg_temp.dispatch(), 'child miss', 'an end is tried until catchup_window is over');

-- Only the ends that it follows.
SELECT pg_temp.child('{"overlap": "allow"}', '{"on": "failure"}'), pg_temp.parent('Failed'), pg_temp.parent(),
       pg_temp.parent('Failed');
SELECT is(pg_temp.dispatch(), 'child fire, child fire', 'an end that it does not follow is none of its times');

-- An end is decided as an error, and the next one is not lost with it.
SELECT pg_temp.child('{"overlap": "allow"}'), pg_temp.parent(), pg_temp.parent();
SELECT pg_temp.breaks('child');
SELECT is(pg_temp.dispatch(), 'child error, child error', 'an error of one end leaves the next one');
SELECT is(pg_temp.occurred(), 'error error', 'and each has its occurrence');

-- A change fires nothing, and says so of each end.
SELECT pg_temp.child('{"overlap": "allow"}'), pg_temp.parent(), pg_temp.parent(),
       lockstep.job_set('child', '{"enabled": false}');
SELECT is(pg_temp.dispatch(), 'nothing', 'ends before a change fire nothing');
SELECT is(pg_temp.occurred(), 'skipped skipped', 'and each has its occurrence');
SELECT is((SELECT count(*) FROM lockstep.job_end), 0::bigint, 'none waits');
SELECT pg_temp.child('{"overlap": "allow"}'), pg_temp.parent(), pg_temp.parent(),
       lockstep.schedule_remove('child', 's');
SELECT is(pg_temp.occurred(), 'skipped skipped', 'and so has each when the schedule is removed');

-- Ends of one moment are still ends of their own: of runs that no occurrence knows any more.
SELECT pg_temp.child('{"overlap": "allow"}'), lockstep.job_set('parent', '{"overlap": "allow"}'),
       lockstep.job_run('parent'), lockstep.job_run('parent');
DELETE FROM lockstep.job_occurrence o USING lockstep.job j WHERE j.job_id = o.job_id AND j.name = 'parent';
UPDATE lockstep.run SET status = 'Completed', ended_at = '2020-01-01 06:00Z' WHERE ended_at IS NULL;
SELECT is(pg_temp.dispatch(), 'child fire, child fire', 'two ends of one moment fire twice');
SELECT * FROM finish();
ROLLBACK;
