-- The times of a schedule that passed undecided: the decision skips them at once, and finds what stepping from each
-- time to the next one finds, in random states of random rules, also where the clock changes.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');

\ir job.inc
-- The job has one schedule of each rule, numbered.
CREATE TEMP TABLE rules AS
SELECT row_number() OVER () AS no, spec || jsonb_build_object('zone', zone) AS spec
FROM unnest(ARRAY['{"kind": "cron", "expr": "*/20 * * * *"}', '{"kind": "cron", "expr": "15 2,3 * * *"}',
                  '{"kind": "cron", "expr": "*/5 9 */2 * 1"}',
                  '{"kind": "daily", "times": ["00:00", "02:30", "23:59:59"]}',
                  '{"kind": "weekly", "days": ["SUN"], "times": ["02:30"]}']::jsonb[]) AS spec,
     unnest('{UTC,Europe/Warsaw,Australia/Lord_Howe,America/Havana}'::text[]) AS zone
UNION ALL SELECT 100, '{"kind": "interval", "every": "37m"}';
SELECT lockstep.job_define(pg_temp.spec('j', jsonb_build_object('schedules',
    (SELECT jsonb_agg(r.spec || jsonb_build_object('name', 's' || r.no)) FROM rules r))));

-- What the decision says of the past, by rule_next alone: scheduled_for, how many before it, the next one.
CREATE FUNCTION pg_temp.stepped(s lockstep.schedule, p_now timestamptz, p_most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    oldest timestamptz := p_now - CASE WHEN s.misfire = 'skip' THEN LEAST(s.catchup_window, interval '1 minute')
                                       ELSE s.catchup_window END;
    at timestamptz := s.next_at;
    following timestamptz := lockstep.rule_next(s.rule, at);
    missed int := 0;
BEGIN
    WHILE following <= p_now AND (s.misfire <> 'all' OR at < oldest) AND missed < p_most LOOP
        missed := missed + 1;
        at := following;
        following := lockstep.rule_next(s.rule, at);
    END LOOP;
    RETURN format('%s after %s from %s', at, missed, CASE WHEN missed > 0 THEN s.next_at END);
END
$$;
SELECT setseed(0.31);
CREATE FUNCTION pg_temp.differing(rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    own lockstep.job;
    s lockstep.schedule;
    moment timestamptz;
    d record;
    said text;
BEGIN
    SELECT j.* INTO own FROM lockstep.job j WHERE j.name = 'j';
    FOR i IN 1..rounds LOOP
        SELECT b.* INTO s FROM lockstep.schedule b WHERE b.job_id = own.job_id ORDER BY random() LIMIT 1;
        moment := CASE floor(random() * 4) WHEN 0 THEN '2041-03-31Z'::timestamptz WHEN 1 THEN '2024-11-03 05:00Z'
                                           WHEN 2 THEN '2024-04-06 15:00Z' ELSE '2030-06-01Z' END
                      + (random() * 4 - 3) * interval '1 day';
        s.next_at := lockstep.rule_next(s.rule, moment);
        s.wake_at := s.next_at;
        s.misfire := ('{once,all,skip}'::text[])[1 + floor(random() * 3)];
        s.catchup_window := ('{1m,1h,1d,30d}'::interval[])[1 + floor(random() * 4)];
        -- on a time of the rule, or behind one
        moment := s.next_at + random() * random() * interval '9 days';
        IF random() < 0.3 THEN
            moment := COALESCE(lockstep.rule_next(s.rule, moment), moment);
        END IF;
        d := lockstep.job_decide(own, s, moment);
        said := format('%s after %s from %s', d.scheduled_for, d.missed_count, d.missed_from);
        IF said <> pg_temp.stepped(s, moment, 5000) THEN
            RETURN format('%s at %s, misfire %s within %s: %s, not %s', s.name, moment, s.misfire, s.catchup_window,
                          said, pg_temp.stepped(s, moment, 5000));
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
SELECT is(pg_temp.differing(300), NULL, 'in 300 random states the decision finds what single steps find');
SELECT * FROM finish();
ROLLBACK;
