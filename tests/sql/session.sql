-- What tasks may leave in a session (sql/functions/session/session_risks.sql), how it is put right (session_clean.sql),
-- and how a change of the database's definitions is counted (definitions_changed.sql). tests/e2e/hygiene.sh sees it all
-- together.

-- Cleaning, before pgTAP: it keeps its books in temporary tables.
CREATE VIEW state AS SELECT concat_ws(' ', current_setting('work_mem'), current_setting('search_path'),
                                      current_setting('TimeZone'),
    current_setting('application_name'), current_setting('plan_cache_mode'),
    nullif(current_setting('my.own', true), ''), current_user = session_user,
    (SELECT count(*) FROM pg_class WHERE relpersistence = 't'),
    (SELECT count(*) FROM pg_prepared_statement() WHERE from_sql),
    (SELECT count(*) FROM pg_listening_channels()), (SELECT count(*) FROM pg_cursors WHERE is_holdable),
    (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())) AS is;
CREATE SEQUENCE public.numbers;
SELECT "is" AS clean FROM state \gset
CREATE ROLE :"DBNAME";
SET work_mem = '77MB';
SET TimeZone = 'Asia/Tokyo';
SET application_name = 'somebody';
SET plan_cache_mode = force_generic_plan;
SET my.own = 'x';
PREPARE "a ""name" AS SELECT 1;
LISTEN something;
SELECT pg_advisory_lock(4711), pg_advisory_lock_shared(1, 4711), nextval('numbers') \gset
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT 1;
COMMIT;
CREATE TEMPORARY TABLE text (a int); -- types of that name are found there first
SET search_path = pg_temp, pg_catalog;
SELECT "is" AS dirty FROM public.state \gset
BEGIN;
SELECT lockstep.session_clean();
COMMIT;
SELECT "is" AS cleaned FROM state \gset
GRANT USAGE ON SCHEMA lockstep TO :"DBNAME";
GRANT EXECUTE ON FUNCTION lockstep.session_clean() TO :"DBNAME";
SET ROLE :"DBNAME";
SELECT lockstep.session_clean();
SELECT current_user = session_user AS role_is_back \gset
REVOKE ALL ON FUNCTION lockstep.session_clean() FROM :"DBNAME";
REVOKE ALL ON SCHEMA lockstep FROM :"DBNAME";
DROP ROLE :"DBNAME";

-- The count of changes, in a new session, else what was done above counts, too. counts: by how much a change adds to
-- it.
CREATE TABLE public.plain (a int);
CREATE TABLE public.counted (change text, adds bigint);
CREATE FUNCTION public.counts(change text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    was bigint := lockstep.definitions_changes();
BEGIN
    EXECUTE change;
    PERFORM lockstep.definitions_changed(true);
    INSERT INTO public.counted VALUES (change, lockstep.definitions_changes() - was);
END
$$;
\c
SELECT counts('INSERT INTO plain VALUES (1)');
SELECT counts('CREATE TEMPORARY TABLE mine (a int PRIMARY KEY, b text DEFAULT ''x'' CHECK (b <> ''''))');
SELECT counts('CREATE TEMPORARY TABLE yours AS SELECT * FROM pg_class');
SELECT counts('DROP TABLE mine');
SELECT counts('INSERT INTO plain VALUES (2)');
SELECT counts('ALTER TABLE plain RENAME TO renamed');
SELECT counts('INSERT INTO renamed VALUES (3)');
SELECT counts('DO $do$ BEGIN ALTER TABLE renamed RENAME TO plain; EXCEPTION WHEN division_by_zero THEN END $do$');
SELECT counts('ALTER TABLE plain ALTER a SET DEFAULT 1');
SELECT counts('ALTER TABLE plain ADD CHECK (a > 0)');
SELECT counts('CREATE DOMAIN narrow AS int CHECK (VALUE > 1)');
SELECT counts('CREATE FUNCTION made() RETURNS int LANGUAGE sql AS ''SELECT 1''');
\c
SELECT counts('CREATE OR REPLACE FUNCTION made() RETURNS int LANGUAGE sql AS ''SELECT 2''');
DROP DOMAIN narrow;
DROP FUNCTION made();
\c
CREATE INDEX CONCURRENTLY ON plain (a);
SELECT changes AS before FROM lockstep.definitions \gset
SELECT lockstep.definitions_changed(false);
SELECT changes - :before AS bare FROM lockstep.definitions \gset

BEGIN;
SELECT plan(54);
SELECT isnt(:'dirty'::text, :'clean', 'a session that is not clean looks different');
SELECT is(:'cleaned'::text, :'clean', 'cleaned, it looks as it did');
SELECT ok(:'role_is_back', 'so does its role');
SELECT is(adds, CASE WHEN change ~ 'INSERT|TEMPORARY|DROP' THEN 0 ELSE 1 END::bigint, 'counted: ' || change)
FROM counted;
SELECT is(:bare, 1, 'counted: what was done before');

-- pgTAP has functions in plenty; and no more than are asked for are reported.
CREATE FUNCTION pg_temp.risky(name text)
RETURNS boolean LANGUAGE sql AS $$ SELECT name IN (SELECT lockstep.session_risks(100000)) $$;
SELECT is(ARRAY(SELECT lockstep.session_risks(3)), '{*}', 'more names than are asked for are everything');
SELECT ok(NOT pg_temp.risky('*'), 'else they are named');

CREATE FUNCTION leaves() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
SELECT ok(pg_temp.risky('leaves'), 'a function');
SELECT ok(NOT pg_temp.risky('state'), 'not a view of built-in functions');
SELECT ok(NOT pg_temp.risky('plain') AND NOT pg_temp.risky('task'), 'nor a table without anything, nor ours');
CREATE AGGREGATE adds(int) (SFUNC = int4pl, STYPE = int);
SELECT ok(pg_temp.risky('adds'), 'an aggregate');
CREATE TABLE triggered (a int);
CREATE TRIGGER t BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION fires();
SELECT ok(pg_temp.risky('triggered'), 'a table with a trigger');
CREATE TABLE quiet (a int);
CREATE TRIGGER t BEFORE UPDATE ON quiet FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
SELECT ok(NOT pg_temp.risky('quiet'), 'not if the trigger''s function is built in');
CREATE TABLE defaulted (a int DEFAULT leaves(), b int);
SELECT ok(pg_temp.risky('defaulted'), 'with a default');
CREATE TABLE harmless (a bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, b timestamptz DEFAULT now(),
                       c int CHECK (c > 0));
SELECT ok(NOT pg_temp.risky('harmless'), 'not with defaults and checks that are built in');
CREATE TABLE calls_setting (a text DEFAULT set_config('work_mem', '77MB', false));
SELECT ok(pg_temp.risky('calls_setting'), 'unless they change the session');
CREATE TABLE generated (a int, b int GENERATED ALWAYS AS (leaves() + a) STORED);
SELECT ok(pg_temp.risky('generated'), 'a generated column');
CREATE TABLE checked (a int CHECK (a > leaves()));
SELECT ok(pg_temp.risky('checked'), 'a check');
CREATE TABLE ruled (a int);
CREATE RULE r AS ON INSERT TO ruled DO ALSO SELECT leaves();
SELECT ok(pg_temp.risky('ruled'), 'a rule');
CREATE TABLE secured (a int);
CREATE POLICY p ON secured USING (a = leaves());
SELECT ok(pg_temp.risky('secured'), 'a policy');
CREATE TABLE indexed (a int);
CREATE INDEX ON indexed ((a + leaves()));
SELECT ok(pg_temp.risky('indexed'), 'an expression of an index');
CREATE TABLE partly (a int);
CREATE INDEX ON partly (a) WHERE a > leaves();
SELECT ok(pg_temp.risky('partly'), 'a condition of an index');

CREATE VIEW shows AS SELECT leaves();
CREATE VIEW shows_that AS SELECT * FROM shows;
CREATE MATERIALIZED VIEW keeps AS SELECT pg_try_advisory_lock(4711);
SELECT ok(pg_temp.risky('shows'), 'a view');
SELECT ok(pg_temp.risky('shows_that'), 'a view upon a view');
SELECT ok(pg_temp.risky('keeps'), 'what takes a lock');
CREATE VIEW settings AS SELECT name, setting FROM pg_settings;
SELECT ok(pg_temp.risky('settings'), 'a view upon pg_settings, by which they are set');
CREATE VIEW writes AS SELECT a FROM triggered;
SELECT ok(pg_temp.risky('writes'), 'a view through which a table is written');
CREATE TABLE parent (a int) PARTITION BY LIST (a);
CREATE TABLE child PARTITION OF parent FOR VALUES IN (1);
SELECT ok(NOT pg_temp.risky('parent'), 'a table with partitions is none');
CREATE TRIGGER t BEFORE INSERT ON child FOR EACH ROW EXECUTE FUNCTION fires();
SELECT ok(pg_temp.risky('child') AND pg_temp.risky('parent'), 'unless one of them is');
CREATE TABLE parent_fires (a int) PARTITION BY LIST (a);
CREATE TABLE child_of_it PARTITION OF parent_fires FOR VALUES IN (1);
CREATE TRIGGER t AFTER INSERT ON parent_fires FOR EACH ROW EXECUTE FUNCTION fires();
SELECT ok(pg_temp.risky('child_of_it'), 'a partition has the triggers of its table');
CREATE TABLE referred (a int PRIMARY KEY);
CREATE TABLE refers (a int REFERENCES referred ON DELETE CASCADE);
SELECT ok(NOT pg_temp.risky('referred'), 'a table that is referred to is none');
CREATE TRIGGER t AFTER DELETE ON refers FOR EACH ROW EXECUTE FUNCTION fires();
SELECT ok(pg_temp.risky('referred'), 'unless a cascade comes to one');
CREATE TABLE "Ünlikely ""name" (a int DEFAULT leaves());
SELECT ok(pg_temp.risky('Ünlikely "name'), 'names are told as they are');

SAVEPOINT s;
CREATE DOMAIN narrow AS int CHECK (VALUE > leaves());
SELECT ok(pg_temp.risky('*'), 'a domain may be anywhere: everything');
ROLLBACK TO s;
CREATE DOMAIN narrow AS text CHECK (set_config('work_mem', VALUE, false) <> '');
SELECT ok(pg_temp.risky('*'), 'also if what it calls is built in');
ROLLBACK TO s;
CREATE FUNCTION plus(int, text) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
CREATE OPERATOR + (FUNCTION = plus, LEFTARG = int, RIGHTARG = text);
SELECT ok(pg_temp.risky('*'), 'so may an operator');
ROLLBACK TO s;
CREATE TYPE pair AS (a int, b int);
CREATE FUNCTION to_int(pair) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE CAST (pair AS int) WITH FUNCTION to_int(pair) AS IMPLICIT;
SELECT ok(pg_temp.risky('*'), 'and a cast');
ROLLBACK TO s;
CREATE DOMAIN short AS text CHECK (length(VALUE) < 9);
SELECT ok(NOT pg_temp.risky('*'), 'not a domain with a harmless check');

SELECT is((SELECT bool_or(lockstep.executor_lives(n)) FROM generate_series(1000000, 1000010) AS n), false,
          'an executor that there is not does not live');
SELECT is((SELECT count(*) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objid >= 1000000
             AND l.pid = pg_backend_pid()), 0::bigint,
          'and who asks keeps none of the next ones from its lock');
SELECT is((SELECT count(*) FROM lockstep.definitions), 1::bigint, 'there is one count');
SELECT throws_ok('INSERT INTO lockstep.definitions VALUES (1)', '23505', NULL, 'and cannot be two');
SELECT finish();
ROLLBACK;
