-- lockstep.job_forecast: the first times of all schedules, however unlike they are: the same as all times of each one,
-- sorted.
BEGIN;
SELECT no_plan();
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');
SELECT lockstep.job_define(jsonb_build_object('job', 'j' || i, 'queue', 'q',
    'tasks', '[{"order": 1, "sql": "SELECT 1"}]'::jsonb, 'schedules', jsonb_build_array(s.spec || '{"name": "s"}')))
FROM (VALUES (1, '{"kind": "interval", "every": "7s"}'::jsonb), (2, '{"kind": "interval", "every": "1m"}'),
             (3, '{"kind": "cron", "expr": "0 3 1 1 *"}'), (4, '{"kind": "cron", "expr": "* 5 * * *"}'),
             (5, '{"kind": "once", "at": "2041-01-01T00:00:07Z"}'), (6, '{"kind": "cron", "expr": "0 0 29 2 *"}'),
             (7, '{"kind": "daily", "times": ["06:00"], "zone": "Europe/Warsaw"}'),
             (8, '{"kind": "interval", "every": "7s", "phase": "3s"}')) AS s (i, spec);
CREATE FUNCTION pg_temp.sorted(p_job text, p_from timestamptz, p_until timestamptz, p_n int)
RETURNS text LANGUAGE sql AS $$
    WITH RECURSIVE w AS (
        SELECT j.name AS job, s.name AS schedule, s.rule,
               lockstep.rule_next(s.rule, p_from - interval '1 microsecond') AS at, 1 AS no
        FROM lockstep.schedule s JOIN lockstep.job j USING (job_id) WHERE p_job IS NULL OR j.name = p_job
        UNION ALL
        SELECT w.job, w.schedule, w.rule, lockstep.rule_next(w.rule, w.at), w.no + 1 FROM w
        WHERE w.at < COALESCE(p_until, 'infinity') AND w.no < p_n)
    SELECT string_agg(x.at || ' ' || x.job, ', ' ORDER BY x.at, x.job, x.schedule)
    FROM (SELECT w.at, w.job, w.schedule FROM w WHERE w.at < COALESCE(p_until, 'infinity')
          ORDER BY w.at, w.job, w.schedule LIMIT p_n) x
$$;
CREATE FUNCTION pg_temp.forecast(p_job text, p_from timestamptz, p_until timestamptz, p_n int)
RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(f.at || ' ' || f.job_name, ', ' ORDER BY f.no)
    FROM lockstep.job_forecast(p_job, p_from, p_until, p_n) WITH ORDINALITY AS f (at, job_name, schedule, local, no)
$$;
SELECT is(pg_temp.forecast(c.job, c.begins, c.ends, c.n), pg_temp.sorted(c.job, c.begins, c.ends, c.n),
    format('%s times of %s from %s until %s', c.n, COALESCE(c.job, 'all'), c.begins, COALESCE(c.ends::text, 'ever')))
FROM (VALUES (NULL, '2041-01-01Z'::timestamptz, NULL::timestamptz, 1), (NULL, '2041-01-01Z', NULL, 8),
             (NULL, '2041-01-01Z', NULL, 50), (NULL, '2041-01-01T00:00:00Z', '2041-01-01T00:00:07Z', 50),
             (NULL, '2041-01-01Z', '2041-01-01Z', 5), (NULL, '2041-01-01T04:59:30Z', NULL, 100),
             ('j3', '2041-01-01Z', NULL, 5), ('j6', '2041-01-01Z', '2049-01-01Z', 5),
             ('j1', '2041-01-01Z', '2041-01-01T00:01:00Z', 100)) AS c (job, begins, ends, n);
SELECT is((SELECT count(*) FROM lockstep.job_forecast(NULL, '2041-01-01Z', NULL, 5000)), 5000::bigint, 'many');
-- rule_walk is a short cut, and finds what rule_next finds time by time, also where the clock changes.
CREATE FUNCTION pg_temp.stepped(p_rule lockstep.rule, p_after timestamptz, p_until timestamptz, p_n int)
RETURNS timestamptz[] LANGUAGE sql AS $$
    WITH RECURSIVE w AS (
        SELECT lockstep.rule_next(p_rule, p_after) AS at, 1 AS no
        UNION ALL SELECT lockstep.rule_next(p_rule, w.at), w.no + 1 FROM w WHERE w.at < p_until AND w.no < p_n)
    SELECT COALESCE(array_agg(w.at ORDER BY w.no), '{}') FROM w WHERE w.at < p_until
$$;
SELECT is(lockstep.rule_walk(r.rule, z.at + a.after, u.until, n), pg_temp.stepped(r.rule, z.at + a.after, u.until, n),
    format('%s times of %s from %s until %s', n, r.spec, z.at + a.after, u.until))
FROM (VALUES ('Europe/Warsaw', '2041-03-31T00:00:00Z'::timestamptz), ('America/Havana', '2024-11-03T05:00:00Z'),
             ('Australia/Lord_Howe', '2024-04-06T15:00:00Z'), ('Pacific/Apia', '2011-12-30T10:00:00Z'),
             ('Antarctica/Casey', '2012-02-21T17:00:00Z'), ('UTC', '2041-02-28T22:00:00Z')) AS z (zone, at)
CROSS JOIN (VALUES (interval '-9 days'), (interval '-1 hour'), (interval '40 minutes')) AS a (after)
CROSS JOIN LATERAL (VALUES ('infinity'::timestamptz, 60), ('infinity', 300),
                           (z.at + interval '3 hours', 1000)) AS u (until, n)
CROSS JOIN LATERAL (
    SELECT spec, lockstep.rule_of(CASE WHEN spec ->> 'kind' = 'interval' THEN spec
                                       ELSE spec || jsonb_build_object('zone', z.zone) END) AS rule
    FROM unnest(ARRAY['{"kind": "cron", "expr": "30 * * * *"}', '{"kind": "cron", "expr": "15 2,3 * * *"}',
                      '{"kind": "cron", "expr": "*/20 9 */2 * 1"}', '{"kind": "interval", "every": "37m"}',
                      '{"kind": "daily", "times": ["00:00", "02:30", "23:59:59"]}',
                      '{"kind": "cron", "expr": "*/20 1,2 * * 0,3"}',
                      '{"kind": "cron", "expr": "0 4 * * 0", "not_after": "2041-04-01T00:00:00Z"}',
                      '{"kind": "calendar", "freq_type": 4, "freq_interval": 1, "active_start_date": 20110101,
                        "freq_subday_type": 4, "freq_subday_interval": 45, "active_start_time": 220000,
                        "active_end_time": 33000}']::jsonb[]) AS spec) AS r;
SELECT throws_like($$SELECT * FROM lockstep.job_forecast(NULL, NULL, NULL, 0)$$, 'n: 0 is not in the range%', 'none');
-- What is no time, or too many, is refused at once.
SET LOCAL statement_timeout = '20s';
SELECT throws_like(format('SELECT * FROM lockstep.job_forecast(NULL, %L, %L, 5)', begins, '2042-01-01Z'),
                   'from: % is not in the range', format('from %s is refused', begins))
FROM unnest('{-infinity,infinity,4713-01-01 BC,10000-01-01Z}'::text[]) AS begins;
SELECT throws_like($$SELECT * FROM lockstep.job_forecast(NULL, '2041-01-01Z', NULL, NULL)$$,
                   'n: NULL is not in the range', 'n NULL is refused');
SELECT throws_like($$SELECT * FROM lockstep.job_forecast(NULL, '2041-01-01Z', NULL, 2147483647)$$,
                   'n: 2147483647 is not in the range', 'so is a huge n');
SELECT is((SELECT count(*) FROM lockstep.job_forecast('j3', '2041-01-01Z', 'infinity', 100000)), 7959::bigint,
          'times end with the year 9999');
SELECT is((SELECT count(*) FROM lockstep.job_forecast(NULL, '2041-01-01Z', '-infinity', 5)), 0::bigint,
          'before everything there is none');
CREATE FUNCTION pg_temp.rule(spec text DEFAULT '{"kind": "interval", "every": "1h"}')
RETURNS jsonb LANGUAGE sql AS 'SELECT spec::jsonb';
SELECT throws_like(format('SELECT lockstep.next_time(pg_temp.rule(%L), %L)', rule, after),
                   'after: % is not in the range', format('after %s is refused: %s', after, rule))
FROM unnest('{-infinity,infinity,294276-12-31Z}'::text[]) AS after,
     unnest(ARRAY['{"kind": "interval", "every": "1h"}', '{"kind": "daily", "times": ["06:00"]}']) AS rule;
SELECT throws_like(format('SELECT count(*) FROM lockstep.forecast(pg_temp.rule(), %L, %L)', '2041-01-01Z', n),
                   'n: % is not in the range', format('n %s is refused', n))
FROM unnest('{0,-1,100001,NULL}'::text[]) AS n;
SELECT is((SELECT count(*)
           FROM lockstep.forecast(pg_temp.rule('{"kind": "cron", "expr": "0 0 29 2 *"}'), '9990-01-01Z', 100000)),
          2::bigint, 'the times of a rule, too, end with the year 9999');
SELECT throws_like(
    $$SELECT * FROM lockstep.schedule_explain(pg_temp.rule() || '{"after": "0000-01-01T00:00:00Z"}', 5)$$,
    'after: % is not an instant', 'there is no year 0');
SELECT throws_like(format('SELECT lockstep.next_time(pg_temp.rule(%L), now())',
                          jsonb_build_object('kind', 'daily', 'times', '["06:00"]'::jsonb, 'zone', zone)),
                   'zone: "%" is not the name of a time zone',
    format('zone %s is refused', zone)) FROM unnest(ARRAY[E'U\\', 'War%', 'new york']) AS zone;
-- From now on the first times are those that the schedules have already; one that is late has yet to be decided. Hourly
-- rules, so that no time passes between the two forecasts; two schedules of one job share a time.
DELETE FROM lockstep.job;
SELECT lockstep.job_define(jsonb_build_object('job', 'h' || i, 'queue', 'q',
    'tasks', '[{"order": 1, "sql": "SELECT 1"}]'::jsonb, 'schedules', jsonb_build_array(
        jsonb_build_object('name', 's', 'kind', 'interval', 'every', i || 'h', 'phase', '1799s'),
        jsonb_build_object('name', 't', 'kind', 'interval', 'every', 2 * i || 'h', 'phase', '1799s'))))
FROM generate_series(1, 12) AS i;
UPDATE lockstep.schedule s SET next_at = next_at - interval '14 h', wake_at = wake_at - interval '14 h'
FROM lockstep.job j WHERE j.job_id = s.job_id AND j.name IN ('h1', 'h7');
SELECT is(pg_temp.forecast(NULL, NULL, u.until, n), pg_temp.forecast(NULL, clock_timestamp(), u.until, n),
          format('%s times from now on until %s', n, COALESCE(u.until::text, 'ever')))
FROM unnest('{1,5,24,25,100}'::int[]) AS n, (VALUES (NULL::timestamptz), (now() + interval '9 h')) AS u (until);
SELECT is(pg_temp.forecast('h3', NULL, NULL, 20), pg_temp.forecast('h3', clock_timestamp(), NULL, 20), 'of one job');
SELECT * FROM finish();
ROLLBACK;
