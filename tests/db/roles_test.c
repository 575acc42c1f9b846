/* ctest: timeout=120 notsan
 * The rights of the group roles and, above all, the limits of a session that runs task SQL. */
#include "db/backend.h"
#include "tests/db/roles.h"

#include <stdlib.h>

static const char *task_status_of(struct house *house, int task)
{
    return support_text(house->admin, "SELECT status FROM lockstep.task WHERE task_id = %d", task);
}

/* ---- task SQL */

static void a_task_session_reads_and_writes_no_relation_of_ours(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_task", DB_READER);
    struct err err;
    DB_RESULT_AUTO *rows = NULL;
    static const char *const commands[] = {"SELECT FROM %s", "DELETE FROM %s", "TRUNCATE %s",
                                           "BEGIN; LOCK TABLE %s IN ACCESS SHARE MODE",
                                           "COPY %s TO STDOUT"};
    assert_ok(db_script(house->admin,
                        "SELECT c.oid::regclass::text, relkind = 'r' FROM pg_class c WHERE "
                        "relnamespace = 'lockstep'::regnamespace AND relkind IN ('r', 'v')",
                        &rows, &err),
              &err);
    assert_true(db_rows(rows) > 15);
    for (int i = 0; i < db_rows(rows); i++) {
        for (int c = 0; c < (db_bool(rows, i, 1) ? 5 : 1); c++) {
            char sql[200];
            const char *at = strstr(commands[c], "%s");
            (void)snprintf(sql, sizeof sql, "%.*s%s%s", (int)(at - commands[c]), commands[c],
                           db_text(rows, i, 0), at + 2);
            refused(db, "42501", sql);
        }
    }
    refused(db, "42501", "INSERT INTO lockstep.task DEFAULT VALUES");
    refused(db, "42501", "UPDATE lockstep.task SET status = 'Completed'");
    refused(db, "42501", "SELECT nextval('lockstep.task_task_id_seq')");
    refused(db, "42501", "CREATE TABLE lockstep.mine ()");
    refused(db, "42501", "CREATE FUNCTION lockstep.complete(int) RETURNS void LANGUAGE sql AS ''");
    refused(db, "42501", "DROP TRIGGER guard_status ON lockstep.task");
    refused(db, "42501", "ALTER FUNCTION lockstep.complete SECURITY INVOKER");
    db_close(db);
}

static void a_task_session_may_call_complete_and_fail_and_questions_only(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_task", DB_READER);
    assert_string_equal(
        support_text(db, "SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc WHERE "
                         "pronamespace = 'lockstep'::regnamespace AND "
                         "has_function_privilege(oid, 'EXECUTE')"),
        "action_begin action_complete action_fail action_step ask_check ask_columns ask_fire "
        "ask_look ask_query complete definitions_changed fail fire is_editable is_failed "
        "is_finished "
        "is_processable session_clean session_warm step_begin step_done task_is_type");
    refused(db, "42501", "SELECT FROM lockstep.claim(1, 1, 0, NULL, '{}')");
    refused(db, "42501", "SELECT FROM lockstep.adopt(1, 1, 1, '{}')");
    refused(db, "42501", "SELECT lockstep.run_finish(1)");
    refused(db, "42501", "SELECT lockstep.run_fail(1, 1, 'x')");
    refused(db, "42501", "SELECT lockstep.run_stop(1, 0, 'x')");
    refused(db, "42501", "SELECT lockstep.lock_shared_xact(1)");
    refused(db, "42501", "SELECT lockstep.cursor_advance(1, 1, 1, '')");
    db_close(db);
}

static void a_task_session_ends_the_attempt_whose_token_it_holds_and_no_other(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_task", DB_READER);
    refused(db, "LS001", "SELECT lockstep.complete(1, " WRONG ")");
    refused(db, "LS001", "SELECT lockstep.complete(1, NULL)");
    refused(db, "LS001", "SELECT lockstep.fail(1, " WRONG ", true, 0, '', '', '', '', '')");
    refused(db, "LS001", "SELECT lockstep.fail(1, NULL, true, 0, '', '', '', '', '')");
    support_exec(db, "SELECT lockstep.session_warm()");
    assert_string_equal(task_status_of(house, 1), "Pending");
    support_exec(db, "SELECT lockstep.complete(1, " TOKEN ")");
    assert_string_equal(task_status_of(house, 1), "Completed");
    support_exec(db, "SELECT lockstep.fail(2, " TOKEN ", true, 0, 'X', 'x', '', '', '')");
    assert_string_equal(task_status_of(house, 2), "Failed");
    assert_string_equal(task_status_of(house, 3), "Pending");
    db_close(db);
}

static void a_task_session_reaches_no_better_role(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_task", DB_READER);
    refused(db, "42501", "SET ROLE lockstep_owner");
    refused(db, "42501", "SET ROLE lockstep_executor");
    refused(db, "42501", "SET ROLE lockstep_operator");
    refused(db, "42501", "SET SESSION AUTHORIZATION lockstep_executor");
    refused(db, "42501", "SELECT set_config('role', 'lockstep_owner', false)");
    refused(db, "42501", "GRANT lockstep_owner TO CURRENT_USER");
    refused(db, "42501", "SET session_replication_role = replica");
    support_exec(db, "RESET ROLE; RESET SESSION AUTHORIZATION; SET ROLE lockstep_task; RESET ROLE");
    refused(db, "42501", "SELECT FROM lockstep.task");
    db_close(db);
}

/* Own things in front of everything else: operators that say yes, functions, tables, types. Each
 * leaves a trace when it is used. */
static void make_traps(struct db *db)
{
    static const char *const operators[][3] = {
        {"=", "uuid", "uuid"},      {"=", "bigint", "bigint"},
        {"=", "int", "int"},        {"=", "text", "text"},
        {"=", "bigint", "int"},     {"=", "int", "bigint"},
        {">=", "int", "int"},       {">", "bigint", "bigint"},
        {"<>", "bigint", "bigint"}, {">", "timestamptz", "timestamptz"}};
    static const char *const arithmetic[][3] = {{"-", "timestamptz", "timestamptz"},
                                                {"+", "timestamptz", "interval"},
                                                {"*", "bigint", "interval"},
                                                {"*", "interval", "float8"}};
    static const char *const functions[] = {"now()",
                                            "clock_timestamp()",
                                            "format(text, bigint)",
                                            "pg_notify(text, text)",
                                            "json(text)",
                                            "concat_ws(text, text, text)",
                                            "cardinality(float8[])",
                                            "\"coalesce\"(bigint)"};
    char trace[300];
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const char *const *op = operators[i];
        (void)snprintf(trace, sizeof trace,
                       "LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES ('%s(%s,%s)'); "
                       "RETURN true; END $$",
                       op[0], op[1], op[2]);
        support_exec(db,
                     "CREATE FUNCTION trap.b%d(%s, %s) RETURNS boolean %s; CREATE OPERATOR trap.%s "
                     "(FUNCTION = trap.b%d, LEFTARG = %s, RIGHTARG = %s)",
                     (int)i, op[1], op[2], trace, op[0], (int)i, op[1], op[2]);
    }
    (void)snprintf(trace, sizeof trace,
                   "LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES "
                   "('function'); RETURN NULL; END $$");
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++) {
        const char *const *op = arithmetic[i];
        support_exec(
            db,
            "CREATE FUNCTION trap.a%d(%s, %s) RETURNS interval %s; CREATE OPERATOR trap.%s "
            "(FUNCTION = trap.a%d, LEFTARG = %s, RIGHTARG = %s)",
            (int)i, op[1], op[2], trace, op[0], (int)i, op[1], op[2]);
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        support_exec(db, "CREATE FUNCTION trap.%s RETURNS text %s", functions[i], trace);
    support_exec(db, "CREATE DOMAIN trap.interval AS text; CREATE DOMAIN trap.float8 AS text; "
                     "CREATE TEMP TABLE task (task_id bigint, token uuid, status text); "
                     "CREATE TEMP TABLE queue (queue_id int); CREATE TEMP TABLE run (run_no int); "
                     "SET search_path = trap, pg_temp, pg_catalog");
}

/* SECURITY DEFINER functions run with the owner's rights and, where they set none, with the
 * caller's search_path: nothing of it may be looked at. */
static void nothing_that_task_sql_makes_fools_complete_or_fail(void **state)
{
    struct house *house = *state;
    support_exec(house->admin, "CREATE SCHEMA trap; GRANT ALL ON SCHEMA trap TO PUBLIC; "
                               "CREATE TABLE trap.sprung (what text); GRANT ALL ON trap.sprung TO "
                               "PUBLIC");
    struct db *db = login(house, "lockstep_task", DB_READER);
    make_traps(db);
    /* The traps do work. */
    support_exec(db, "SELECT 1 = 2, now()");
    assert_true(support_int(house->admin, "SELECT count(*) FROM trap.sprung") >= 2);
    support_exec(house->admin, "TRUNCATE trap.sprung");

    refused(db, "LS001", "SELECT lockstep.complete(1, " WRONG ")");
    refused(db, "LS001", "SELECT lockstep.fail(1, " WRONG ", true, 0, '', '', '', '', '')");
    support_exec(db, "SELECT lockstep.complete(1, " TOKEN ")");
    support_exec(db, "SELECT lockstep.fail(2, " TOKEN ", false, 5, 'X', 'x', '', '', '')");
    support_exec(house->admin, "UPDATE lockstep.task SET max_attempts = 9");
    support_exec(db, "SELECT lockstep.fail(3, " TOKEN ", false, 5, 'X', 'x', '', '', '')");
    assert_string_equal(
        support_text(house->admin, "SELECT coalesce(string_agg(what, ', '), '') FROM trap.sprung"),
        "");
    assert_string_equal(
        support_text(house->admin,
                     "SELECT string_agg(status::text, ' ' ORDER BY task_id) FROM lockstep.task"),
        "Completed Failed Error");
    assert_string_equal(support_text(house->admin, "SELECT (started_at > now() - interval '1 min', "
                                                   "duration < '1 min')::text FROM lockstep.task "
                                                   "WHERE task_id = 1"),
                        "(t,t)");
    db_close(db);
    support_exec(house->admin, "DROP SCHEMA trap CASCADE");
}

/* A login that may create in public, or in a schema of the other's name, makes what statements of
 * ours would find there. */
static void nothing_that_others_make_in_public_is_run_by_sessions_of_ours(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_executor", DB_CONTROL);
    struct db *task = login(house, "lockstep_task", DB_READER);
    const char *executor = house->names[0];
    support_exec(
        house->admin,
        "CREATE TABLE public.sprung (who text); GRANT INSERT ON public.sprung TO PUBLIC; "
        "GRANT CREATE ON SCHEMA public TO PUBLIC; CREATE SCHEMA %s; GRANT ALL ON SCHEMA %s TO "
        "PUBLIC",
        executor, executor);
    for (int i = 0; i < 2; i++)
        support_exec(task,
                     "CREATE FUNCTION %s.trap(text, int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
                     "INSERT INTO "
                     "public.sprung VALUES (current_user); RETURN 'x'; END $$; CREATE OPERATOR "
                     "%s.|| (FUNCTION "
                     "= %s.trap, LEFTARG = text, RIGHTARG = int)",
                     i ? "public" : executor, i ? "public" : executor, i ? "public" : executor);
    support_exec(db, "SELECT 'lockstep_' || 1");
    support_exec(db, "RESET ALL; SELECT 'lockstep_' || 1");
    support_exec(db, "SELECT lockstep.give_back(1, '{1}', '{NULL}')");
    assert_int_equal(support_int(house->admin, "SELECT count(*) FROM public.sprung"), 0);
    support_exec(task, "SELECT 'lockstep_' || 1"); /* the trap does work */
    assert_int_equal(support_int(house->admin, "SELECT count(*) FROM public.sprung"), 1);
    db_close(db);
    db_close(task);
}

static void a_completion_inside_a_transaction_that_rolls_back_is_none(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_task", DB_READER);
    support_exec(db, "BEGIN; SELECT lockstep.complete(1, " TOKEN "); ROLLBACK");
    assert_string_equal(task_status_of(house, 1), "Pending");
    db_close(db);
}

/* ---- the others */

static void an_executor_and_its_readers_do_their_work_with_their_own_logins(void **state)
{
    struct house *house = *state;
    struct db *control = login(house, "lockstep_executor", DB_CONTROL);
    struct db *reader = login(house, "lockstep_task", DB_READER);
    support_exec(control,
                 "INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, "
                 "queues) VALUES (gen_random_uuid(), 'h', 1, 'v', 1, '{q}'); LISTEN "
                 "lockstep_1; UPDATE lockstep.executor SET heartbeat = heartbeat + 1; "
                 "SELECT lockstep.executors_living()");
    support_exec(control, "UPDATE lockstep.queue SET next_offset = 10");
    assert_string_equal(
        support_text(control,
                     "SELECT verdict FROM lockstep.claim(1, 1, 0, ROW('task', " WRONG
                     ", NULL, 100, 0, "
                     "'{10,11}', '{0,1}', '{\"{}\",\"{}\"}', '{NULL,NULL}', '{NULL,NULL}', "
                     "'{NULL,NULL}', 1, '\\x00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
                     "NULL, NULL, false, false)::lockstep.segment, '{}')"),
        "claimed");
    support_exec(reader, "BEGIN; SELECT lockstep.complete(%s); COMMIT",
                 support_text(control, "SELECT task_id || ', ' || quote_literal(token) FROM "
                                       "lockstep.task WHERE kafka_offset = 10"));
    support_exec(reader, "SELECT lockstep.fail(%s, true, 0, 'X', 'x', NULL, NULL, NULL)",
                 support_text(control, "SELECT task_id || ', ' || quote_literal(token) FROM "
                                       "lockstep.task WHERE kafka_offset = 11"));
    support_exec(control, "SELECT lockstep.gate(2, 1); SELECT lockstep.opened('{2}', 1); SELECT "
                          "lockstep.adopt(1, 1, 1, '{}'); "
                          "SELECT lockstep.release(2, true); SELECT lockstep.run_finish(2)");
    assert_string_equal(task_status_of(house, 4), "Completed");
    assert_string_equal(task_status_of(house, 5), "Failed");
    db_close(control);
    db_close(reader);
}

/* A common group is not enough for the server: the executor's login must be a member of the login
 * of its readers. */
static void an_executor_that_is_a_member_of_its_readers_login_ends_their_sessions(void **state)
{
    struct house *house = *state;
    struct db *control = login(house, "lockstep_executor", DB_CONTROL);
    struct db *reader = login(house, "lockstep_task", DB_READER);
    struct err err;
    STR_AUTO sql = {0};
    str_format(&sql, "SELECT pg_terminate_backend(%d)", db_backend_pid(reader));
    refused(control, "42501", sql.data);
    support_exec(house->admin, "GRANT %s TO %s", house->names[1], house->names[0]);
    support_exec(control, "%s", sql.data);
    support_await(control, 5000, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %d)",
                  db_backend_pid(reader));
    assert_rc(db_script(reader, "SELECT 1", NULL, &err), RC_LOST, &err);
    db_close(control);
    db_close(reader);
}

/* Retention is the executors'; how long what is kept is for operators to say. */
static void executors_sweep_and_operators_say_what_is_kept(void **state)
{
    struct house *house = *state;
    struct db *control = login(house, "lockstep_executor", DB_RETENTION);
    struct db *operators = login(house, "lockstep_operator", DB_CLI);
    struct db *monitor = login(house, "lockstep_monitor", DB_CLI);
    struct err err;
    DB_RESULT_AUTO *row = NULL;
    support_exec(house->admin,
                 "UPDATE lockstep.task SET status = 'Completed', key = 'k' || task_id; "
                 "INSERT INTO lockstep.task_attempt (task_id, attempt, status, ended_at) VALUES "
                 "(1, 1, 'Error', now()); INSERT INTO lockstep.idempotency_key (queue_id, key, "
                 "task_id, run_id, kafka_offset) VALUES (1, 'k1', 1, " TOKEN ", 1); "
                 "UPDATE lockstep.run SET ended_at = now() - interval '2 days', created_at = "
                 "now() - interval '2 days'; INSERT INTO lockstep.rejected_message (queue_id, "
                 "kafka_offset, reason, detail, rejected_at) VALUES (1, 9, 'r', 'd', now() - "
                 "interval '2 days'); DELETE FROM lockstep.outbox");
    assert_ok(db_run(operators, &sql_queue_keep,
                     (const char *const[]){"q", NULL, "1", NULL, "false"}, &row, &err),
              &err);
    assert_string_equal(
        support_text(control, "SELECT deleted || ' ' || more FROM lockstep.sweep(1, 10, -1)"),
        "4 true");
    assert_true(support_int(control, "SELECT lockstep.sweep_rest(1, 10)") > 0);
    assert_ok(db_run(control, &sql_sweep_failed, (const char *const[]){"1", "x"}, NULL, &err),
              &err);
    assert_int_equal(support_int(monitor, "SELECT tasks FROM lockstep.run_summary"), 3);
    assert_string_equal(support_text(monitor, "SELECT detail FROM lockstep.retention"),
                        "failed: x");
    refused(operators, "42501", "SELECT lockstep.sweep(1, 10, -1)");
    refused(operators, "42501", "DELETE FROM lockstep.run_summary");
    refused(operators, "42501", "UPDATE lockstep.run SET swept = false");
    db_close(control);
    db_close(operators);
    db_close(monitor);
}

static void an_executor_changes_no_migration_and_no_vocabulary(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_executor", DB_CONTROL);
    refused(db, "42501", "DELETE FROM lockstep.migration");
    refused(db, "42501", "UPDATE lockstep.function_version SET checksum = ''");
    refused(db, "42501",
            "INSERT INTO lockstep.status_transition VALUES ('Completed', 'Failed', '')");
    refused(db, "42501", "DROP TABLE lockstep.task");
    refused(db, "42501", "SET ROLE lockstep_owner");
    db_close(db);
}

static void a_monitor_reads_and_does_nothing_else(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_monitor", DB_CLI);
    static const char *const views[] = {"execution_log", "run_status", "phase_status",
                                        "reader_status", "rejected"};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        support_exec(db, "SELECT * FROM lockstep.%s", views[i]);
    refused(db, "42501", "UPDATE lockstep.queue SET paused = true");
    refused(db, "42501", "DELETE FROM lockstep.task");
    refused(db, "42501", "INSERT INTO lockstep.event_log (event) VALUES ('x')");
    refused(db, "42501", "SELECT lockstep.complete(1, " TOKEN ")");
    refused(db, "42501", "SELECT lockstep.run_finish(1)");
    refused(db, "42501", "SET ROLE lockstep_operator");
    db_close(db);
}

/* A session completes a task with its token: a login that reads it and is a member of
 * lockstep_task, too, could forge a completion. */
static void nobody_but_executors_reads_tokens(void **state)
{
    struct house *house = *state;
    static const char *const groups[] = {"lockstep_monitor", "lockstep_operator",
                                         "lockstep_producer", "lockstep_task"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct db *db = login(house, groups[i], DB_CLI);
        refused(db, "42501", "SELECT token FROM lockstep.task");
        if (strcmp(groups[i], "lockstep_task") != 0)
            assert_int_equal(support_int(db, "SELECT count(*) FROM lockstep.task WHERE status = "
                                             "'Pending' AND payload IS NOT NULL"),
                             3);
        db_close(db);
    }
}

static void an_operator_controls_queues_and_touches_no_task(void **state)
{
    struct house *house = *state;
    struct db *db = login(house, "lockstep_operator", DB_CLI);
    support_exec(db, "UPDATE lockstep.queue SET paused = true; SELECT * FROM lockstep.run_status");
    refused(db, "42501", "UPDATE lockstep.task SET status = 'Completed'");
    refused(db, "42501", "SELECT lockstep.complete(1, " TOKEN ")");
    db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_task_session_reads_and_writes_no_relation_of_ours, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            a_task_session_may_call_complete_and_fail_and_questions_only, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_task_session_ends_the_attempt_whose_token_it_holds_and_no_other, setup, teardown),
        cmocka_unit_test_setup_teardown(a_task_session_reaches_no_better_role, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_that_task_sql_makes_fools_complete_or_fail, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            nothing_that_others_make_in_public_is_run_by_sessions_of_ours, setup, teardown),
        cmocka_unit_test_setup_teardown(a_completion_inside_a_transaction_that_rolls_back_is_none,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_executor_and_its_readers_do_their_work_with_their_own_logins, setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_executor_that_is_a_member_of_its_readers_login_ends_their_sessions, setup, teardown),
        cmocka_unit_test_setup_teardown(executors_sweep_and_operators_say_what_is_kept, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_executor_changes_no_migration_and_no_vocabulary, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_monitor_reads_and_does_nothing_else, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_but_executors_reads_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(an_operator_controls_queues_and_touches_no_task, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
