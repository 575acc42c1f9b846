/* ctest: timeout=120 notsan
 * No role becomes another: by code that is run with the other's rights, or by rows that are not its
 * own to write. */
#include "tests/db/roles.h"

/* ---- code of one role that is run with the rights of another */

/* A schema of the role's own, and a function there that notes with whose rights it is run; its body
 * is the caller's. */
#define EVIL(args, result)                                                                         \
    "CREATE FUNCTION evil(" args ") RETURNS " result " LANGUAGE plpgsql AS $$ BEGIN INSERT INTO "  \
    "public.sprung VALUES (current_user); RETURN NULL; END $$; "

static struct db *evil_login(struct house *house, const char *group)
{
    struct db *db = login(house, group, DB_READER);
    const char *name = house->names[house->count - 1];
    support_exec(house->admin,
                 "CREATE TABLE IF NOT EXISTS public.sprung (who text); GRANT INSERT ON "
                 "public.sprung TO PUBLIC; CREATE SCHEMA %s; GRANT ALL ON SCHEMA %s TO %s",
                 name, name, name);
    return db;
}

static const char *sprung(struct house *house)
{
    return support_text(house->admin,
                        "SELECT coalesce(string_agg(who, ' '), '') FROM public.sprung");
}

/* The check of a foreign key runs the cast of its type as the owner of the table that is
 * referenced. */
static void a_worker_references_no_task(void **state)
{
    struct house *house = *state;
    struct db *db = evil_login(house, "lockstep_worker");
    support_exec(db,
                 "CREATE TYPE k AS ENUM ('one'); " EVIL(
                     "k", "bigint") "CREATE CAST (k AS bigint) WITH FUNCTION evil(k) AS IMPLICIT");
    refused(db, "42501", "CREATE TABLE mine (x k REFERENCES lockstep.task (task_id))");
    refused(db, "42501", "CREATE TABLE mine (x bigint REFERENCES lockstep.task (task_id))");
    assert_string_equal(sprung(house), "");
    db_close(db);
}

/* Casts to json of a type, of its elements, of the base type of a domain. */
static void a_trigger_that_enqueues_runs_nothing_of_the_tables_types(void **state)
{
    struct house *house = *state;
    struct db *db = evil_login(house, "lockstep_producer");
    support_exec(db, "CREATE TYPE k AS ENUM ('one'); CREATE DOMAIN d AS k; CREATE DOMAIN n AS int; "
                     "CREATE TYPE c AS (a k, b int); " EVIL(
                         "k", "json") "CREATE CAST (k AS json) WITH FUNCTION evil(k); "
                                      "CREATE FUNCTION evil(c) RETURNS json LANGUAGE sql AS $$ "
                                      "SELECT evil('one'::k) $$; "
                                      "CREATE CAST (c AS json) WITH FUNCTION evil(c); "
                                      "CREATE FUNCTION evil_text(k) RETURNS text LANGUAGE sql AS "
                                      "$$ SELECT evil($1)::text "
                                      "$$; CREATE CAST (k AS text) WITH FUNCTION evil_text(k)");
    support_exec(db,
                 "CREATE TABLE mine (x k, xs k[], y d, ys d[], z c, nn n, ns n[], \"i'd\" int, t "
                 "text[], nothing k, j jsonb)");
    static const char template[] =
        "{\"order\": 1, \"sql\": \"SELECT 1\", \"params\": [\"{x}\", \"{xs}\", \"{y}\", \"{ys}\", "
        "\"{z}\", \"{nn}\", \"{ns}\", \"{i''d}\", \"{t}\", \"{nothing}\", \"{j}\"]}";
    support_exec(db,
                 "CREATE TRIGGER r AFTER INSERT OR DELETE ON mine FOR EACH ROW EXECUTE FUNCTION "
                 "lockstep.enqueue_trigger('q', '%s')",
                 template);
    support_exec(
        db,
        "CREATE TRIGGER s AFTER INSERT ON mine REFERENCING NEW TABLE AS new FOR EACH STATEMENT "
        "EXECUTE FUNCTION lockstep.enqueue_trigger('q', '%s')",
        template);
    support_exec(
        db, "INSERT INTO mine VALUES ('one', '{one}', 'one', '{one}', '(one,2)', 3, '{4,5}', 6, "
            "'{a,NULL}', NULL, '{\"b\": [7]}'); DELETE FROM mine");
    assert_string_equal(sprung(house), "");
    assert_string_equal(
        support_text(house->admin,
                     "SELECT count(*) || ' ' || (messages[1]::jsonb -> 'params')::text FROM "
                     "lockstep.enqueued GROUP BY messages[1]::jsonb -> 'params'"),
        "3 [\"one\", [\"one\"], \"one\", [\"one\"], \"(one,2)\", 3, [4, 5], 6, [\"a\", null], "
        "null, "
        "{\"b\": [7]}]");
    db_close(db);
}

/* Operators that stand in front of pg_catalog, where a trigger with the owner's rights would find
 * them. */
static void an_executor_is_not_made_the_owner_by_operators_of_its_own(void **state)
{
    struct house *house = *state;
    struct db *db = evil_login(house, "lockstep_executor");
    const char *name = house->names[house->count - 1];
    support_exec(
        db,
        "CREATE FUNCTION evil(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT "
        "INTO public.sprung VALUES (current_user); RETURN $1 OPERATOR(pg_catalog.=) $2; END $$; "
        "CREATE OPERATOR = (LEFTARG = text, RIGHTARG = text, FUNCTION = evil)");
    support_exec(db, "SET search_path = %s, pg_catalog", name);
    support_exec(db,
                 "INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, "
                 "opened_at, events) "
                 "VALUES (1, 1, 200, 100, now(), true); UPDATE lockstep.queue SET events = true; "
                 "INSERT INTO lockstep.event_log (event, queue_id) VALUES ('run_started', 1)");
    assert_string_equal(sprung(house), "");
    db_close(db);
}

/* Row security, defaults, constraints, generated columns and rules of a producer's own table run as
 * the producer, also when its trigger, which has the owner's rights, enqueues from it, for a row
 * and for a statement. */
static void code_of_a_producers_own_table_runs_as_the_producer(void **state)
{
    struct house *house = *state;
    struct db *db = evil_login(house, "lockstep_producer");
    support_exec(db,
                 "CREATE FUNCTION yes() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO "
                 "public.sprung VALUES (current_user); RETURN true; END $$; "
                 "CREATE FUNCTION five(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN IF "
                 "current_user <> session_user THEN RAISE 'run as another'; END IF; RETURN 5; "
                 "END $$; "
                 "CREATE DOMAIN evil_int AS int CHECK (yes()); "
                 "CREATE TABLE mine (id int, x evil_int DEFAULT five(1), CHECK (yes()), "
                 "g int GENERATED ALWAYS AS (five(id)) STORED); "
                 "CREATE POLICY p ON mine USING (yes()) WITH CHECK (yes()); "
                 "ALTER TABLE mine ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; "
                 "CREATE INDEX ON mine (five(id))");
    support_exec(db,
                 "CREATE TRIGGER r AFTER INSERT OR UPDATE ON mine FOR EACH ROW EXECUTE FUNCTION "
                 "lockstep.enqueue_trigger('q', '{\"order\": 1, \"sql\": \"SELECT 1\", "
                 "\"params\": [\"{x}\", \"{g}\"]}')");
    support_exec(db, "CREATE TRIGGER s AFTER INSERT ON mine REFERENCING NEW TABLE AS new FOR EACH "
                     "STATEMENT EXECUTE FUNCTION lockstep.enqueue_trigger('q', '{\"order\": 1, "
                     "\"sql\": \"SELECT 1\", \"params\": [\"{x}\", \"{g}\"]}')");
    support_exec(db, "INSERT INTO mine (id) VALUES (1), (2); UPDATE mine SET id = 3 WHERE id = 1");
    assert_int_equal(support_int(house->admin, "SELECT count(*) FROM lockstep.enqueued"), 4);
    assert_true(support_int(house->admin, "SELECT count(*) FROM public.sprung") > 2);
    assert_int_equal(support_int(house->admin,
                                 "SELECT count(*) FROM public.sprung WHERE who <> '%s'",
                                 house->names[house->count - 1]),
                     0);
    db_close(db);
}

/* What would be run by others who use our tables, or would keep them from it. */
static void no_role_puts_code_on_our_tables_or_holds_them_up(void **state)
{
    struct house *house = *state;
    static const char *const groups[] = {"lockstep_executor", "lockstep_task",
                                         "lockstep_producer", "lockstep_operator",
                                         "lockstep_monitor",  "lockstep_worker"};
    static const char *const commands[] = {
        "CREATE POLICY p ON lockstep.task USING (false)",
        "ALTER TABLE lockstep.task ENABLE ROW LEVEL SECURITY",
        "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION evil_event()",
        "ALTER TABLE lockstep.task ALTER COLUMN name SET DEFAULT evil_text()",
        "ALTER TABLE lockstep.task ADD CHECK (evil_text() IS NOT NULL)",
        "CREATE TRIGGER t AFTER INSERT ON lockstep.task FOR EACH ROW EXECUTE FUNCTION evil()",
        "CREATE RULE r AS ON INSERT TO lockstep.task DO ALSO SELECT evil_text()",
        "CREATE INDEX ON lockstep.task (name)",
        "CREATE STATISTICS lockstep.s ON name, payload FROM lockstep.task",
        "CREATE TABLE heir () INHERITS (lockstep.task)",
        "CREATE CAST (lockstep.status AS bigint) WITH FUNCTION evil_status(lockstep.status)",
        "ALTER TYPE lockstep.status ADD VALUE 'x'",
        "CREATE OPERATOR lockstep.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil_equal)",
        "SELECT setval('lockstep.task_task_id_seq', 1)",
        "TRUNCATE lockstep.task",
        "BEGIN; LOCK TABLE lockstep.migration IN ACCESS EXCLUSIVE MODE",
        "CREATE PUBLICATION p FOR TABLE lockstep.task",
        "ALTER ROLE lockstep_owner SET search_path = x",
        "ALTER DATABASE template1 SET search_path = x",
        "COMMENT ON TABLE lockstep.task IS 'x'",
    };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        struct db *db = evil_login(house, groups[g]);
        support_exec(db,
                     EVIL("", "trigger") "CREATE FUNCTION evil_event() RETURNS event_trigger "
                                         "LANGUAGE plpgsql AS $$ BEGIN END $$; "
                                         "CREATE FUNCTION evil_text() RETURNS text LANGUAGE sql AS "
                                         "$$ SELECT 'x'::text $$; "
                                         "CREATE FUNCTION evil_equal(text, text) RETURNS boolean "
                                         "LANGUAGE sql AS $$ SELECT true $$");
        if (strcmp(groups[g], "lockstep_worker") != 0 && strcmp(groups[g], "lockstep_task") != 0)
            support_exec(db, "CREATE FUNCTION evil_status(lockstep.status) RETURNS bigint LANGUAGE "
                             "sql AS $$ SELECT 1::bigint $$");
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            if (strcmp(groups[g], "lockstep_executor") == 0 &&
                strstr(commands[i], "setval") != NULL)
                continue; /* it fills that table */
            struct err err = {0};
            enum rc rc = db_script(db, commands[i], NULL, &err);
            if (rc == RC_OK || (strcmp(err.code, "42501") != 0 && strcmp(err.code, "42883") != 0))
                print_error("%s: %s: %s %s\n", groups[g], commands[i], err.code, err.message);
            assert_true(rc != RC_OK &&
                        (strcmp(err.code, "42501") == 0 || strcmp(err.code, "42883") == 0));
            assert_ok(db_script(db, "ROLLBACK", NULL, &err), &err);
        }
        db_close(db);
    }
    assert_string_equal(sprung(house), "");
}

/* ---- rows that are not the role's to write */

static const char *run_of(struct house *house, const char *columns)
{
    return support_text(house->admin, "SELECT (%s)::text FROM lockstep.run WHERE run_no = 1",
                        columns);
}

static void a_producer_writes_no_run_of_anothers_and_no_event(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_producer", DB_PRODUCER);
    const char *before = run_of(house, "run");
    refused(db, "42501", "UPDATE lockstep.run SET status = 'Completed', ended_at = now()");
    refused(db, "42501",
            "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status, published_by) "
            "VALUES (gen_random_uuid(), 1, 'stop', 'Publishing', 'dba')");
    refused(db, "42501", "INSERT INTO lockstep.event_log (event, actor) VALUES ('x', 'dba')");
    refused(db, "42501", "INSERT INTO lockstep.event_log (event) VALUES ('x')");
    refused(db, "42501", "UPDATE lockstep.rejected_message SET redriven_by = 'dba'");
    /* Not even what a producer may call, without the producers' lock. */
    refused(db, "42501",
            "SELECT lockstep.publish_start(1, gen_random_uuid(), NULL, 'stop', 'finite', "
            "'query', 'SELECT 1', NULL, NULL, NULL, 0)");
    refused(db, "42501", "SELECT lockstep.publish_cancel(1, " TOKEN ", 'x')");
    refused(db, "42501", "SELECT lockstep.publish_finish(1, " TOKEN ", 1, 1, 1, 1, NULL, 'x')");
    refused(db, "42501", "SELECT lockstep.publish_note(1, " TOKEN ", 1, 1, NULL)");
    /* With it: a run of its own name, and nothing of one that was not published so. */
    support_exec(db, "SELECT pg_try_advisory_lock(lockstep.lock_class('producer'), 1)");
    support_exec(db, "SELECT lockstep.publish_start(1, " WRONG
                     ", NULL, 'stop', 'finite', 'query', 'SELECT 1', "
                     "NULL, NULL, NULL, 0)");
    support_exec(db, "SELECT lockstep.publish_cancel(1, " TOKEN
                     ", 'x'); SELECT lockstep.publish_finish(1, " TOKEN
                     ", 1, 1, 1, 1, NULL, 'x'); SELECT lockstep.publish_note(1, " TOKEN
                     ", 1, 1, NULL); SELECT "
                     "lockstep.publish_resume(1, " TOKEN
                     ", 'query', 'x', NULL, NULL, NULL, 1, 1, NULL)");
    assert_string_equal(run_of(house, "run"), before);
    assert_string_equal(
        support_text(house->admin, "SELECT published_by FROM lockstep.run WHERE run_id = " WRONG),
        house->names[0]);
    assert_int_equal(support_int(house->admin,
                                 "SELECT count(*) FROM lockstep.event_log WHERE actor <> '%s'",
                                 house->names[0]),
                     0);
    db_close(db);
}

static void an_operator_publishes_nothing_and_acts_in_its_own_name(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_operator", DB_CLI);
    refused(db, "42501", "INSERT INTO lockstep.event_log (event, actor) VALUES ('x', 'dba')");
    refused(db, "42501", "INSERT INTO lockstep.event_log (event, at) VALUES ('x', '2001-01-01')");
    support_exec(db, "INSERT INTO lockstep.event_log (event) VALUES ('own')");
    assert_string_equal(
        support_text(house->admin, "SELECT actor FROM lockstep.event_log WHERE event = 'own'"),
        house->names[0]);
    support_exec(house->admin, "UPDATE lockstep.queue SET next_offset = 10");
    refused(
        db, "42501",
        "SELECT lockstep.replay_begin(1, NULL, 'missing', 0, 10, NULL, NULL, 'x', false, false)");
    support_exec(
        house->admin,
        "SELECT lockstep.replay_begin(1, NULL, 'missing', 0, 10, NULL, NULL, 'x', false, false)");
    refused(
        db, "42501",
        "SELECT lockstep.replay_step(1, ROW('task', NULL, gen_random_uuid(), 1, 0, '{3}', "
        "'{NULL}', "
        "ARRAY['{\"order\":1,\"previous_order\":0,\"sql\":\"DROP TABLE precious\"}'], '{NULL}', "
        "'{NULL}', "
        "'{NULL}', NULL, NULL, NULL, NULL, NULL, '{NULL}', NULL, NULL, false, NULL, NULL, NULL, "
        "false, true)::lockstep.segment, false)");
    support_exec(house->admin, "GRANT lockstep_producer TO %s", house->names[0]);
    assert_string_equal(
        support_text(db,
                     "SELECT verdict FROM lockstep.replay_begin(1, NULL, 'missing', 0, 10, NULL, "
                     "NULL, 'x', false, false)"),
        "resumed");
    db_close(db);
}

static void an_operator_deletes_a_queue(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_operator", DB_CLI);
    struct err err;
    DB_RESULT_AUTO *row = NULL;
    support_exec(
        house->admin,
        "INSERT INTO lockstep.task_attempt (task_id, attempt, status, ended_at) VALUES (1, 1, "
        "'Error', now())");
    assert_ok(db_run(db, &sql_queue_delete, (const char *const[]){"1", NULL}, &row, &err), &err);
    assert_int_equal(db_int(row, 0, 0), 3);
    assert_int_equal(support_int(house->admin, "SELECT count(*) FROM lockstep.queue"), 0);
    refused(db, "42501", "DELETE FROM lockstep.task");
    db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_references_no_task, setup, teardown),
        cmocka_unit_test_setup_teardown(a_trigger_that_enqueues_runs_nothing_of_the_tables_types,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(an_executor_is_not_made_the_owner_by_operators_of_its_own,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(code_of_a_producers_own_table_runs_as_the_producer, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(no_role_puts_code_on_our_tables_or_holds_them_up, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_producer_writes_no_run_of_anothers_and_no_event, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_operator_publishes_nothing_and_acts_in_its_own_name,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(an_operator_deletes_a_queue, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
