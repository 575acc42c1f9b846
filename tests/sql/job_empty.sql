-- Plans that were made when the tables had no row at their last analysis, as a database that was just made and analysed
-- has: many jobs that are due at the same time read few rows each.
BEGIN;
SELECT plan(3);
SET LOCAL client_min_messages = error;
INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't');

\ir job.inc
SELECT count(lockstep.job_define(pg_temp.spec(
    'j' || n, '{"schedules": [{"name": "s", "kind": "interval", "every": "1h"}]}')))
FROM generate_series(1, 300) AS n \g /dev/null
UPDATE lockstep.schedule SET next_at = '2030-01-01 06:00Z', wake_at = '2030-01-01 06:00Z';
ANALYZE lockstep.run, lockstep.job_occurrence;
-- Rows and index entries of a table that this transaction has read.
CREATE FUNCTION pg_temp.reads(p_table regclass) RETURNS bigint LANGUAGE sql AS $$
    SELECT pg_stat_get_xact_tuples_returned(p_table) + COALESCE(pg_stat_get_xact_tuples_fetched(p_table), 0)
        + (SELECT sum(pg_stat_get_xact_tuples_returned(i.indexrelid))
           FROM pg_index i WHERE i.indrelid = p_table)::bigint
$$;
CREATE TEMP TABLE before AS
SELECT pg_temp.reads('lockstep.run') AS run, pg_temp.reads('lockstep.job_occurrence') AS occurrence;

SELECT is((SELECT count(*) FROM lockstep.dispatch('test', '2030-01-01 06:00:01Z', true, 300)), 300::bigint,
          '300 jobs fire in one transaction');
SELECT cmp_ok(pg_temp.reads('lockstep.run') - (SELECT run FROM before), '<', 3000::bigint,
              'each reads few runs');
SELECT cmp_ok(pg_temp.reads('lockstep.job_occurrence') - (SELECT occurrence FROM before), '<', 3000::bigint,
              'each reads few occurrences');
SELECT * FROM finish();
ROLLBACK;
