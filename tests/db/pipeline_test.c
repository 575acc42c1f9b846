/* Pipeline mode: several transactions under way, errors that skip to their sync, and memory that
 * stays flat.
 * ctest: notsan */
#include "base/str.h"
#include "db/backend.h"
#include "db/notification.h"
#include "db/pipeline.h"
#include "db/task_session.h"
#include "tests/support/sanitized.h"
#include "tests/support/support.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

static void send_all(struct db *db, const char *const *commands)
{
    struct err err;
    for (; *commands != NULL; commands++) {
        if (strcmp(*commands, "|") == 0)
            assert_ok(pipeline_sync(db, &err), &err);
        else
            assert_ok(pipeline_send(db, *commands, 0, NULL, &err), &err);
    }
}

/** Waits for the next reply, and pushes out what is not sent yet. */
static enum rc next(struct db *db, enum pipeline_reply *ret_reply, struct err *ret_failed,
                    struct err *err)
{
    for (;;) {
        bool more = false;
        assert_ok(pipeline_flush(db, &more, err), err);
        enum rc rc = pipeline_next(db, ret_reply, ret_failed, err);
        if (rc != RC_NONE)
            return rc;
        struct pollfd fd = {.fd = db_socket(db), .events = (short)(POLLIN | (more ? POLLOUT : 0))};
        assert_int_equal(poll(&fd, 1, 20000) > 0, 1);
        rc = pipeline_read(db, err);
        if (rc != RC_OK)
            return rc;
    }
}

/** The replies up to the count-th sync, a letter each: o OK, e error, s skipped, | sync, c COPY. */
static const char *replies(struct db *db, int syncs, struct err *ret_failed)
{
    static char told[200];
    static const char letters[] = {'o', 'e', 's', '|', 'c'};
    size_t n = 0;
    while (syncs > 0) {
        enum pipeline_reply reply;
        struct err failed = {0}, err;
        assert_ok(next(db, &reply, &failed, &err), &err);
        assert_true(n < sizeof told - 1);
        told[n++] = letters[reply];
        if (reply == PIPELINE_ERROR)
            *ret_failed = failed;
        syncs -= reply == PIPELINE_SYNC;
    }
    told[n] = '\0';
    return told;
}

static struct db *open_pipeline(void)
{
    struct db *db = support_db();
    struct err err;
    support_exec(db, "CREATE TABLE IF NOT EXISTS n (n int PRIMARY KEY); TRUNCATE n");
    assert_ok(pipeline_start(db, &err), &err);
    return db;
}

static void between_two_syncs_is_one_transaction(void **state)
{
    (void)state;
    struct db *db = open_pipeline(), *watcher = support_db();
    struct err failed, err;
    send_all(db, (const char *const[]){"INSERT INTO n VALUES (1)", "INSERT INTO n VALUES (2)", "|",
                                       "INSERT INTO n VALUES (3)", "SELECT 1/0",
                                       "INSERT INTO n VALUES (4)", "|", "INSERT INTO n VALUES (5)",
                                       "|", NULL});
    assert_string_equal(replies(db, 3, &failed), "oo|oes|o|");
    assert_string_equal(failed.code, "22012");
    assert_non_null(strstr(failed.message, "division by zero"));
    assert_string_equal(support_text(watcher, "SELECT string_agg(n::text, ' ' ORDER BY n) FROM n"),
                        "1 2 5");
    assert_ok(pipeline_stop(db, &err), &err);
    assert_int_equal(support_int(db, "SELECT count(*) FROM n"), 3);
    db_close(db);
    db_close(watcher);
}

static void an_empty_sync_and_an_empty_command_are_answered(void **state)
{
    (void)state;
    struct db *db = open_pipeline();
    struct err failed, err;
    send_all(db, (const char *const[]){"|", "", "|", "-- nothing", "|", NULL});
    assert_string_equal(replies(db, 3, &failed), "|o|o|");
    assert_ok(pipeline_stop(db, &err), &err);
    db_close(db);
}

static void nothing_is_complete_before_it_is_sent(void **state)
{
    (void)state;
    struct db *db = open_pipeline();
    enum pipeline_reply reply;
    struct err failed, err;
    assert_rc(pipeline_next(db, &reply, &failed, &err), RC_NONE, &err);
    assert_ok(pipeline_stop(db, &err), &err);
    db_close(db);
}

static void a_prepared_statement_of_ours_follows_the_users(void **state)
{
    (void)state;
    struct db *db = support_db();
    int count;
    struct err failed, err;
    const char *const params[] = {"1", "aaaaaaaa-0000-4000-8000-000000000001", NULL};
    support_exec(db, "CREATE TABLE IF NOT EXISTS n (n int PRIMARY KEY); TRUNCATE n");
    assert_ok(db_prepare(db, &sql_reader_complete, &err), &err);
    assert_ok(pipeline_start(db, &err), &err);
    send_all(db, (const char *const[]){"INSERT INTO n VALUES (1)", NULL});
    assert_ok(pipeline_send_stmt(db, &sql_reader_complete, params, &count, &err), &err);
    assert_ok(pipeline_sync(db, &err), &err);
    assert_string_equal(replies(db, 1, &failed), "oe|"); /* there is no such task: */
    assert_string_equal(failed.code, "LS001");
    assert_ok(pipeline_stop(db, &err), &err);
    assert_int_equal(support_int(db, "SELECT count(*) FROM n"), 0); /* and so no effect */
    db_close(db);
}

/** Sends the text in this scope and tells: p prepared and executed, x executed, - as it is; d
 * before it: another one was dropped. */
static const char *recalled(struct db *db, int64_t scope, const char *text)
{
    int count;
    bool prepared;
    struct err failed, err;
    assert_ok(
        pipeline_send_recalled(db, scope, text, strlen(text), 0, NULL, &count, &prepared, &err),
        &err);
    assert_ok(pipeline_sync(db, &err), &err);
    assert_int_equal(strlen(replies(db, 1, &failed)), count + 1);
    return prepared ? (count == 1 ? "x" : count == 2 ? "p" : "dp") : (count == 1 ? "-" : "d-");
}

static void a_command_that_comes_again_in_its_scope_is_prepared(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    assert_ok(pipeline_start(db, &err), &err);
    assert_string_equal(recalled(db, 1, "SELECT 1"), "-");
    assert_string_equal(recalled(db, 1, "SELECT 1"), "p");
    assert_string_equal(recalled(db, 1, "SELECT 1"), "x");
    assert_string_equal(recalled(db, 1, "SELECT 2"), "-");
    assert_string_equal(recalled(db, 1, "SELECT 1"), "x");
    assert_string_equal(recalled(db, 2, "SELECT 1"), "d-"); /* another phase */
    assert_string_equal(recalled(db, 2, "SELECT 1"), "p");
    assert_ok(pipeline_stop(db, &err), &err);
    assert_int_equal(
        support_int(db, "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'task%%'"), 1);
    assert_ok(db_reset(db, &err), &err); /* the server has forgotten them, and so have we */
    assert_ok(pipeline_start(db, &err), &err);
    assert_string_equal(recalled(db, 2, "SELECT 1"), "-");
    assert_ok(pipeline_stop(db, &err), &err);
    db_close(db);
}

static void texts_that_never_come_again_neither_grow_nor_displace_what_does(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    char text[40];
    int executed = 0;
    assert_ok(pipeline_start(db, &err), &err);
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(text, sizeof text, "SELECT %d", i % 3 == 0 ? 0 : i);
        executed += *recalled(db, 1, text) == 'x';
    }
    assert_true(executed > 900); /* of 1000 */
    assert_ok(pipeline_stop(db, &err), &err);
    assert_int_equal(
        support_int(db, "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'task%%'"), 1);
    db_close(db);
}

static void parameters_are_bound(void **state)
{
    (void)state;
    struct db *db = open_pipeline();
    struct err failed, err;
    const char *const params[] = {"7", NULL, "'); DROP TABLE n; --"};
    assert_ok(pipeline_send(db,
                            "INSERT INTO n SELECT $1::int WHERE $2::text IS NULL AND "
                            "length($3::text) = 20",
                            3, params, &err),
              &err);
    assert_ok(pipeline_sync(db, &err), &err);
    assert_string_equal(replies(db, 1, &failed), "o|");
    assert_ok(pipeline_stop(db, &err), &err);
    assert_int_equal(support_int(db, "SELECT n FROM n"), 7);
    db_close(db);
}

static void many_transactions_are_under_way_at_once(void **state)
{
    (void)state;
    struct db *db = open_pipeline();
    struct err failed, err;
    enum { COUNT = 2000 };
    int oks = 0, errors = 0, syncs = 0;
    for (int i = 0; i < COUNT; i++) {
        const char *const params[] = {DB_INT(i / 2)}; /* every second one fails */
        bool more;
        assert_ok(pipeline_send(db, "INSERT INTO n VALUES ($1::int)", 1, params, &err), &err);
        assert_ok(pipeline_sync(db, &err), &err);
        assert_ok(pipeline_flush(db, &more, &err), &err);
    }
    while (syncs < COUNT) {
        enum pipeline_reply reply;
        assert_ok(next(db, &reply, &failed, &err), &err);
        oks += reply == PIPELINE_OK;
        errors += reply == PIPELINE_ERROR;
        syncs += reply == PIPELINE_SYNC;
    }
    assert_int_equal(oks, COUNT / 2);
    assert_int_equal(errors, COUNT / 2);
    assert_ok(pipeline_stop(db, &err), &err);
    assert_int_equal(support_int(db, "SELECT count(*) FROM n"), COUNT / 2);
    db_close(db);
}

static long resident_kb(void)
{
    long kb = 0;
    char line[200];
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmHWM: %ld", &kb) == 1)
            break;
    (void)fclose(file);
    assert_true(kb > 0);
    return kb;
}

static const char big[] = "SELECT repeat('x', 1000) FROM generate_series(1, 200000)"; /* 200 MB */

static void a_big_result_is_thrown_away_as_it_comes(void **state)
{
    (void)state;
    struct db *db = open_pipeline();
    struct err failed, err;
    long before_kb = resident_kb();
    send_all(db, (const char *const[]){"SELECT 1", big, "SELECT 2", "|", big, "|", NULL});
    assert_string_equal(replies(db, 2, &failed), "ooo|o|");
    assert_ok(pipeline_stop(db, &err), &err);
    assert_ok(db_command(db, big, 0, NULL, &err), &err);
    assert_true(SANITIZED || resident_kb() - before_kb < 40000);
    db_close(db);
}

static void an_error_after_rows_is_an_error(void **state)
{
    (void)state;
    struct db *db = open_pipeline();
    struct err failed, err;
    send_all(db, (const char *const[]){"SELECT 1 / (5 - n) FROM generate_series(1, 9) AS n",
                                       "SELECT 1", "|", "SELECT 1", "|", NULL});
    assert_string_equal(replies(db, 2, &failed), "es|o|");
    assert_string_equal(failed.code, "22012");
    assert_ok(pipeline_stop(db, &err), &err);
    assert_rc(db_command(db, "SELECT 1 / (5 - n) FROM generate_series(1, 9) AS n", 0, NULL, &err),
              RC_REJECT, &err);
    assert_string_equal(err.code, "22012");
    db_close(db);
}

static void a_session_that_is_killed_in_mid_pipeline_is_lost(void **state)
{
    (void)state;
    struct db *db = open_pipeline(), *killer = support_db();
    struct err failed = {0}, err = {0};
    bool more;
    enum rc rc = RC_OK;
    send_all(db, (const char *const[]){"INSERT INTO n VALUES (1)", "|", "SELECT pg_sleep(60)", "|",
                                       "INSERT INTO n VALUES (2)", "|", NULL});
    assert_ok(pipeline_flush(db, &more, &err), &err);
    support_await(killer, 5000,
                  "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = %d",
                  db_backend_pid(db));
    support_exec(killer, "SELECT pg_terminate_backend(%d)", db_backend_pid(db));
    for (int replies_seen = 0; rc == RC_OK && replies_seen < 10; replies_seen++) {
        enum pipeline_reply reply;
        rc = next(db, &reply, &failed, &err);
    }
    assert_rc(rc, RC_LOST, &err);
    assert_int_equal(err.kind, ERR_DB_DOWN);
    assert_string_equal(support_text(killer, "SELECT string_agg(n::text, ' ') FROM n"), "1");
    db_close(db);
    db_close(killer);
}

static void copy_to_us_is_told_apart_and_refused(void **state)
{
    (void)state;
    struct db *db = open_pipeline();
    struct err failed = {0}, err = {0};
    enum pipeline_reply reply = PIPELINE_OK;
    struct db *other = support_db();
    send_all(db, (const char *const[]){"COPY n TO STDOUT", "|", NULL});
    enum rc rc = next(db, &reply, &failed, &err);
    assert_true(rc == RC_LOST || reply == PIPELINE_COPY || reply == PIPELINE_ERROR);
    db_close(db);
    assert_rc(db_command(other, "COPY n FROM STDIN", 0, NULL, &err), RC_LOST, &err);
    assert_non_null(strstr(err.message, "COPY"));
    db_close(other);
}

static void a_transaction_left_open_is_seen(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err;
    assert_false(db_in_transaction(db));
    assert_ok(db_command(db, "BEGIN", 0, NULL, &err), &err);
    assert_true(db_in_transaction(db));
    assert_rc(db_command(db, "SELECT 1/0", 0, NULL, &err), RC_REJECT, &err);
    assert_true(db_in_transaction(db));
    assert_ok(db_command(db, "ROLLBACK", 0, NULL, &err), &err);
    assert_false(db_in_transaction(db));
    db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(between_two_syncs_is_one_transaction, teardown),
        cmocka_unit_test_teardown(an_empty_sync_and_an_empty_command_are_answered, teardown),
        cmocka_unit_test_teardown(nothing_is_complete_before_it_is_sent, teardown),
        cmocka_unit_test_teardown(a_prepared_statement_of_ours_follows_the_users, teardown),
        cmocka_unit_test_teardown(a_command_that_comes_again_in_its_scope_is_prepared, teardown),
        cmocka_unit_test_teardown(texts_that_never_come_again_neither_grow_nor_displace_what_does,
                                  teardown),
        cmocka_unit_test_teardown(parameters_are_bound, teardown),
        cmocka_unit_test_teardown(many_transactions_are_under_way_at_once, teardown),
        cmocka_unit_test_teardown(a_big_result_is_thrown_away_as_it_comes, teardown),
        cmocka_unit_test_teardown(an_error_after_rows_is_an_error, teardown),
        cmocka_unit_test_teardown(a_session_that_is_killed_in_mid_pipeline_is_lost, teardown),
        cmocka_unit_test_teardown(copy_to_us_is_told_apart_and_refused, teardown),
        cmocka_unit_test_teardown(a_transaction_left_open_is_seen, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
