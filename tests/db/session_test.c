/* One session: settings, a reset, cancelling, notifications, and the errors of a lost one. */
#include "base/str.h"
#include "db/backend.h"
#include "db/canceller.h"
#include "db/notification.h"
#include "db/pipeline.h"
#include "db/task_session.h"
#include "tests/support/support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

/* Control, people and producers do not wait for a row for ever. */
static const char *lock_timeout_of(enum db_role role)
{
    return role == DB_DISPATCHER                                       ? "1s"
           : role == DB_CONSOLE                                        ? "4s"
           : role == DB_CONTROL || role == DB_GATE || role == DB_RELAY ? "2s"
           : role == DB_CLI || role == DB_PRODUCER                     ? "10s"
                                                                       : "0";
}

static const char *statement_timeout_of(enum db_role role)
{
    return role == DB_CONSOLE ? "5s" : "0";
}

static void a_session_is_ours_whatever_the_databases_defaults_are(void **state)
{
    (void)state;
    const char *where = support_empty_database();
    struct err err;
    static const char *const settings[][3] = {
        {"default_transaction_isolation", "serializable", "read committed"},
        {"default_transaction_read_only", "on", "off"},
        {"default_transaction_deferrable", "on", "off"},
        {"idle_session_timeout", "5000", "0"},
        {"log_parameter_max_length_on_error", "-1", "0"},
        {"client_encoding", "LATIN1", "UTF8"},
        {"bytea_output", "escape", "hex"},
        {"datestyle", "German", "ISO, MDY"},
        {"intervalstyle", "sql_standard", "postgres"},
        {"standard_conforming_strings", "off", "on"},
        {"client_connection_check_interval", "0", "1s"},
        {"array_nulls", "off", "on"}};
    struct db *admin = support_db();
    support_exec(admin, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET search_path = other', "
                        "current_database()); END $$");
    support_exec(admin, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET lock_timeout = 1', "
                        "current_database()); END $$");
    support_exec(admin,
                 "DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET statement_timeout = 1000000', "
                 "current_database()); END $$");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        support_exec(admin,
                     "DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET %s = %%L', "
                     "current_database(), '%s'); END $$",
                     settings[i][0], settings[i][1]);
    for (enum db_role role = DB_CLI; role <= DB_MIGRATE; role++) {
        struct db *db = NULL;
        assert_ok(db_open(where, role, &db, &err), &err);
        for (int round = 0; round < 2; round++) {
            for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
                assert_string_equal(support_text(db, "SHOW %s", settings[i][0]), settings[i][2]);
            assert_string_equal(support_text(db, "SHOW lock_timeout"), lock_timeout_of(role));
            assert_string_equal(support_text(db, "SHOW statement_timeout"),
                                statement_timeout_of(role));
            assert_string_equal(support_text(db, "SHOW transaction_isolation"), "read committed");
            bool lazy = role == DB_CONTROL || role == DB_GATE || role == DB_READER;
            assert_string_equal(support_text(db, "SHOW synchronous_commit"), lazy ? "off" : "on");
            bool users = role == DB_READER || role == DB_QUERY;
            assert_string_equal(support_text(db, "SHOW search_path"),
                                users ? "other" : "pg_catalog, pg_temp");
            assert_ok(db_reset(db, &err), &err); /* and after DISCARD ALL */
        }
        db_close(db);
    }
    db_close(admin);
    (void)support_database(); /* the next tests want one without these */
}

/* As ALTER ROLE ... SET, which any login may do to itself, and by the connection string. */
static void a_session_is_ours_whatever_the_logins_defaults_are(void **state)
{
    (void)state;
    struct err err;
    struct db *admin = support_db();
    const char *login = support_name("ls_login"), *other = support_name("ls_other");
    STR_AUTO conninfo = {0};
    support_exec(admin,
                 "CREATE ROLE %s; CREATE ROLE %s LOGIN; GRANT %s TO %s; ALTER ROLE %s SET role = "
                 "%s; ALTER ROLE %s SET statement_timeout = 1; ALTER ROLE %s SET search_path = own",
                 other, login, other, login, login, other, login, login);
    str_format(&conninfo, "%s options='-c work_mem=1MB -c lock_timeout=1 -c search_path=a,\\\\ b'",
               support_conninfo_as(login));
    for (int given = 0; given < 2; given++)
        for (enum db_role role = DB_CLI; role <= DB_MIGRATE; role++) {
            struct db *db = NULL;
            bool users = role == DB_READER || role == DB_QUERY;
            assert_ok(db_open(given ? conninfo.data : support_conninfo_as(login), role, &db, &err),
                      &err);
            assert_string_equal(support_text(db, "SELECT current_user"), login);
            assert_string_equal(support_text(db, "SHOW statement_timeout"),
                                statement_timeout_of(role));
            assert_string_equal(support_text(db, "SHOW lock_timeout"), lock_timeout_of(role));
            assert_string_equal(support_text(db, "SHOW search_path"), !users ? "pg_catalog, pg_temp"
                                                                      : given ? "a, b"
                                                                              : "own");
            if (given)
                assert_string_equal(support_text(db, "SHOW work_mem"), "1MB");
            db_close(db);
        }
    support_exec(admin, "DROP ROLE %s; DROP ROLE %s", login, other);
    db_close(admin);
}

static void a_session_says_what_it_is_for_and_who_it_is(void **state)
{
    (void)state;
    struct err err;
    struct db *db = NULL;
    assert_ok(db_open(support_conninfo_as("lockstep_test"), DB_LIVENESS, &db, &err), &err);
    assert_string_equal(support_text(db, "SHOW application_name"), "lockstep/liveness");
    assert_int_equal(support_int(db, "SELECT pg_backend_pid()"), db_backend_pid(db));
    assert_string_equal(support_text(db, "SELECT backend_start FROM pg_stat_activity WHERE pid = "
                                         "pg_backend_pid()"),
                        db_backend_start(db));
    assert_true(db_socket(db) >= 0);
    db_close(db);
}

static void what_cannot_be_reached_is_lost_and_what_is_no_conninfo_is_fatal(void **state)
{
    (void)state;
    struct err err;
    struct db *db = NULL;
    assert_rc(db_open("host=/nowhere dbname=x", DB_CLI, &db, &err), RC_LOST, &err);
    assert_int_equal(err.kind, ERR_DB_DOWN);
    assert_non_null(strstr(err.message, "/nowhere"));
    assert_rc(db_open("host=x nonsense", DB_CLI, &db, &err), RC_FATAL, &err);
    assert_int_equal(err.kind, ERR_CONFIG);
    assert_null(db);
}

static void prepared_statements_come_back_after_a_reset(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    assert_ok(db_run(db, &sql_reader_now, NULL, NULL, &err), &err);
    support_exec(db, "CREATE TEMP TABLE left_over (); SET search_path = x; LISTEN y");
    assert_ok(db_reset(db, &err), &err);
    assert_ok(db_run(db, &sql_reader_now, NULL, NULL, &err), &err);
    assert_int_equal(support_int(db, "SELECT (to_regclass('left_over') IS NOT NULL)::int"), 0);
    assert_int_equal(support_int(db, "SELECT count(*) FROM pg_listening_channels()"), 0);
    db_close(db);
}

struct busy {
    struct db *db;
    enum rc rc;
    struct err err;
};

static void *sleep_long(void *context)
{
    struct busy *busy = context;
    busy->rc = db_script(busy->db, "SELECT pg_sleep(60)", NULL, &busy->err);
    return NULL;
}

static void a_canceller_stops_a_statement_and_outlives_its_session(void **state)
{
    (void)state;
    struct db *watcher = support_db();
    struct busy busy = {.db = support_db(), .rc = RC_OK};
    struct db_canceller *canceller = db_canceller_new(busy.db);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sleep_long, &busy), 0);
    support_await(watcher, 5000,
                  "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = %d",
                  db_backend_pid(busy.db));
    db_cancel(canceller);
    (void)pthread_join(thread, NULL);
    assert_rc(busy.rc, RC_RETRY, &busy.err);
    assert_string_equal(busy.err.code, "57014");
    assert_int_equal(support_int(busy.db, "SELECT 1"), 1);
    db_close(busy.db);
    db_cancel(canceller);
    db_canceller_free(canceller);
    db_canceller_free(NULL);
    db_close(watcher);
}

static void a_notification_is_read_when_it_has_come(void **state)
{
    (void)state;
    struct db *listener = support_db(), *teller = support_db();
    struct err err;
    const char *channel = NULL, *payload = NULL;
    support_exec(listener, "LISTEN news");
    assert_rc(db_notification(listener, &channel, &payload, &err), RC_NONE, &err);
    support_exec(teller, "NOTIFY news, 'one'; NOTIFY news, 'two'; NOTIFY other, 'three'");
    assert_false(db_notified(listener));
    support_exec(listener, "SELECT 1"); /* a round trip, so it is there, and the socket is silent */
    assert_true(db_notified(listener));
    assert_ok(db_notification(listener, &channel, &payload, &err), &err);
    assert_string_equal(channel, "news");
    assert_string_equal(payload, "one");
    assert_ok(db_notification(listener, &channel, &payload, &err), &err);
    assert_string_equal(payload, "two");
    assert_false(db_notified(listener));
    assert_rc(db_notification(listener, &channel, &payload, &err), RC_NONE, &err);
    db_close(listener);
    db_close(teller);
}

static void a_terminated_session_is_lost_and_stays_so(void **state)
{
    (void)state;
    struct db *db = support_db(), *killer = support_db();
    struct err err;
    const char *channel, *payload;
    support_exec(killer, "SELECT pg_terminate_backend(%d)", db_backend_pid(db));
    support_await(killer, 5000, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %d)",
                  db_backend_pid(db));
    assert_rc(db_run(db, &sql_reader_now, NULL, NULL, &err), RC_LOST, &err);
    assert_int_equal(err.kind, ERR_DB_DOWN);
    assert_rc(db_run(db, &sql_reader_now, NULL, NULL, &err), RC_LOST, &err);
    assert_rc(db_script(db, "SELECT 1", NULL, &err), RC_LOST, &err);
    assert_rc(db_notification(db, &channel, &payload, &err), RC_LOST, &err);
    assert_true(err.message[0] != '\0');
    db_close(db);
    db_close(killer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_session_is_ours_whatever_the_databases_defaults_are, teardown),
        cmocka_unit_test_teardown(a_session_is_ours_whatever_the_logins_defaults_are, teardown),
        cmocka_unit_test_teardown(a_session_says_what_it_is_for_and_who_it_is, teardown),
        cmocka_unit_test_teardown(what_cannot_be_reached_is_lost_and_what_is_no_conninfo_is_fatal,
                                  teardown),
        cmocka_unit_test_teardown(prepared_statements_come_back_after_a_reset, teardown),
        cmocka_unit_test_teardown(a_canceller_stops_a_statement_and_outlives_its_session, teardown),
        cmocka_unit_test_teardown(a_notification_is_read_when_it_has_come, teardown),
        cmocka_unit_test_teardown(a_terminated_session_is_lost_and_stays_so, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
