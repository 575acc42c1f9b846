/* Sessions whose server says nothing (the backend is stopped; its kernel answers every keepalive),
 * and sessions that are cut. */
#include "tests/support/support.h"

#include "base/clock.h"
#include "base/mailbox.h"
#include "db/backend.h"
#include "db/canceller.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#define PATIENCE_MS 300

static int64_t since_ms(int64_t from_us)
{
    return (clock_boot_us() - from_us) / 1000;
}

static void a_call_without_an_answer_ends_in_time_and_later_ones_at_once(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err = {0};
    db_patience(db, PATIENCE_MS);
    assert_int_equal(support_int(db, "SELECT 1"), 1);
    assert_int_equal(kill(db_backend_pid(db), SIGSTOP), 0);
    int64_t from_us = clock_boot_us();
    enum rc rc = db_script(db, "SELECT 1", NULL, &err);
    int64_t took_ms = since_ms(from_us);
    db_patience(db, 5000);
    from_us = clock_boot_us();
    enum rc again = db_script(db, "SELECT 1", NULL, NULL);
    int64_t again_ms = since_ms(from_us);
    (void)kill(db_backend_pid(db), SIGCONT);
    assert_rc(rc, RC_LOST, &err);
    assert_int_equal(err.kind, ERR_TIMEOUT);
    assert_string_equal(err.message, "the server does not answer");
    assert_in_range(took_ms, PATIENCE_MS, PATIENCE_MS + 2000);
    assert_int_equal(again, RC_LOST);
    assert_in_range(again_ms, 0, 2000);
    db_close(db);
}

static void an_answer_within_the_patience_is_an_answer(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err = {0};
    DB_RESULT_AUTO *result = NULL;
    db_patience(db, 5000);
    assert_ok(db_script(db, "SELECT pg_sleep(0.2); SELECT repeat('x', 3000000)", &result, &err),
              &err);
    assert_int_equal(db_length(result, 0, 0), 3000000);
    db_patience(db, 0);
    assert_int_equal(support_int(db, "SELECT 2"), 2);
    db_close(db);
}

/* Another thread puts mail in while the answer is waited for. */
struct visits {
    struct mailbox box;
    int count;
    int64_t last_us;
};

static void visit(void *context)
{
    struct visits *visits = context;
    struct mail *mail = mailbox_take(&visits->box);
    for (; mail != NULL; mail = mail->next)
        visits->count++;
    visits->last_us = clock_boot_us();
}

static void *put_three(void *context)
{
    static struct mail mails[3];
    struct visits *visits = context;
    for (int i = 0; i < 3; i++) {
        (void)poll(NULL, 0, 50);
        mailbox_put(&visits->box, &mails[i]);
    }
    return NULL;
}

static void what_comes_beside_an_answer_is_seen_to_before_it(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct err err = {0};
    pthread_t thread;
    struct visits visits = {0};
    const struct sql_statement sleep = {.name = "test/sleep",
                                        .text = "SELECT 7 FROM (SELECT pg_sleep($1::float8)) AS s",
                                        .rows = SQL_ONE,
                                        .params = 1,
                                        .index = SQL_STATEMENT_COUNT};
    DB_RESULT_AUTO *result = NULL;
    mailbox_init(&visits.box);
    const struct db_beside beside = {.fd = visits.box.fd, .fn = visit, .context = &visits};
    db_patience(db, 5000);
    assert_int_equal(pthread_create(&thread, NULL, put_three, &visits), 0);
    assert_ok(db_run_beside(db, &sleep, (const char *const[]){"1.5"}, &beside, &result, &err),
              &err);
    int64_t answered_us = clock_boot_us();
    (void)pthread_join(thread, NULL);
    assert_int_equal(db_int(result, 0, 0), 7);
    assert_int_equal(visits.count, 3);
    assert_true(answered_us - visits.last_us > 500 * 1000); /* it did not wait for the answer */
    /* Only during that call. */
    static struct mail late;
    mailbox_put(&visits.box, &late);
    assert_int_equal(support_int(db, "SELECT 1 FROM (SELECT pg_sleep(0.1)) AS s"), 1);
    assert_int_equal(visits.count, 3);
    /* It does not make the session more patient, and an error is an error. */
    assert_rc(db_run_beside(db, &sleep, (const char *const[]){"no number"}, &beside, NULL, &err),
              RC_REJECT, &err);
    assert_int_equal(visits.count, 4);
    db_patience(db, PATIENCE_MS);
    int64_t from_us = clock_boot_us();
    assert_rc(db_run_beside(db, &sleep, (const char *const[]){"5"}, &beside, NULL, &err), RC_LOST,
              &err);
    assert_in_range(since_ms(from_us), PATIENCE_MS, PATIENCE_MS + 2000);
    mailbox_done(&visits.box);
    db_close(db);
}

struct waiting {
    struct db *db;
    enum rc rc;
};

static void *wait_long(void *context)
{
    struct waiting *waiting = context;
    waiting->rc = db_script(waiting->db, "SELECT pg_sleep(60)", NULL, NULL);
    return NULL;
}

static void a_session_that_is_cut_returns_to_who_waits_on_it_and_its_statement_ends(void **state)
{
    (void)state;
    struct db *watcher = support_db();
    struct waiting waiting = {.db = support_db(), .rc = RC_OK};
    struct db_canceller *canceller = db_canceller_new(waiting.db);
    pthread_t thread;
    int pid = db_backend_pid(waiting.db);
    assert_int_equal(pthread_create(&thread, NULL, wait_long, &waiting), 0);
    support_await(watcher, 5000,
                  "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = %d", pid);
    int64_t from_us = clock_boot_us();
    db_sever(canceller);
    (void)pthread_join(thread, NULL);
    assert_int_equal(waiting.rc, RC_LOST);
    assert_in_range(since_ms(from_us), 0, 2000);
    db_close(waiting.db);
    support_await(watcher, 5000, "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = %d", pid);
    db_sever(canceller);
    db_sever(NULL);
    db_canceller_free(canceller);
    db_close(watcher);
}

static void a_request_to_cancel_waits_for_nobody(void **state)
{
    (void)state;
    struct db *db = support_db();
    struct db_canceller *canceller = db_canceller_new(db);
    int postmaster =
        (int)support_int(db, "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int");
    assert_int_equal(kill(postmaster, SIGSTOP), 0);
    db_cancel(canceller);
    bool ended = db_cancel_wait(canceller, 0);
    (void)kill(postmaster, SIGCONT);
    assert_false(ended);
    assert_true(db_cancel_wait(canceller, 60000));
    db_canceller_free(canceller);
    db_close(db);
}

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_call_without_an_answer_ends_in_time_and_later_ones_at_once,
                                  teardown),
        cmocka_unit_test_teardown(an_answer_within_the_patience_is_an_answer, teardown),
        cmocka_unit_test_teardown(what_comes_beside_an_answer_is_seen_to_before_it, teardown),
        cmocka_unit_test_teardown(
            a_session_that_is_cut_returns_to_who_waits_on_it_and_its_statement_ends, teardown),
        cmocka_unit_test_teardown(a_request_to_cancel_waits_for_nobody, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
