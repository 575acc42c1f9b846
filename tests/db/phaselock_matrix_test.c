/* The locks of one phase, looked at one call at a time, with PostgreSQL's own table locks SHARE and
 * ROW EXCLUSIVE as the oracle: they have the same matrix.
 * ctest: notsan */
#include "base/str.h"
#include "db/backend.h"
#include "db/columns.h"
#include "phaselock/phaselock.h"
#include "tests/support/locks.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSIONS 4
#define PHASES   2
#define STEPS    1500

/* A holder is a session and a phase; it has at most one mode at a time. Its table lock lives in an
 * open transaction of an oracle session of its own. */
struct holder {
    struct db *oracle;
    bool holds;
    enum locks_mode mode;
};

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

static const char *mode_name(enum locks_mode mode)
{
    return mode == LOCKS_SHARED ? "SHARE" : "ROW EXCLUSIVE";
}

static bool oracle_try(struct holder *holder, int phase, enum locks_mode mode)
{
    STR_AUTO sql = {0};
    struct err err;
    str_format(&sql, "BEGIN; LOCK TABLE oracle_%d IN %s MODE NOWAIT", phase, mode_name(mode));
    if (db_script(holder->oracle, sql.data, NULL, &err) == RC_OK)
        return true;
    assert_string_equal(err.code, "55P03");
    support_exec(holder->oracle, "ROLLBACK");
    return false;
}

/* S both ways: the try of a claim, and the shortest wait of an adoption. */
static bool lockstep_try(struct db *db, int phase, enum locks_mode mode, int wait_ms)
{
    struct err err;
    enum rc rc = mode == LOCKS_SHARED ? locks_shared(db, phase, wait_ms, &err)
                                      : locks_intent(db, phase, wait_ms, &err);
    if (rc != RC_NONE)
        assert_ok(rc, &err);
    return rc == RC_OK;
}

static void step(struct db *db, struct holder *holder, int phase, int grants[2][2])
{
    struct err err;
    if (holder->holds) {
        support_exec(holder->oracle, "ROLLBACK");
        assert_ok(locks_release(db, phase, holder->mode, &err), &err);
        holder->holds = false;
        return;
    }
    enum locks_mode mode = rand() % 2 ? LOCKS_SHARED : LOCKS_INTENT;
    bool expected = oracle_try(holder, phase, mode);
    assert_int_equal(lockstep_try(db, phase, mode, rand() % 2), expected);
    holder->holds = expected;
    holder->mode = mode;
    grants[mode][expected]++;
}

static void the_matrix_is_that_of_share_and_row_exclusive(void **state)
{
    (void)state;
    struct db *sessions[SESSIONS];
    struct holder holders[SESSIONS][PHASES] = {0};
    int grants[2][2] = {{0}};
    (void)support_database();
    const char *seed_text = getenv("LOCKSTEP_TEST_SEED");
    unsigned seed = seed_text ? (unsigned)strtoul(seed_text, NULL, 10) : 20240917;
    print_message("seed %u\n", seed);
    srand(seed);
    for (int s = 0; s < SESSIONS; s++) {
        sessions[s] = support_db();
        for (int p = 0; p < PHASES; p++)
            holders[s][p].oracle = support_db();
    }
    for (int p = 0; p < PHASES; p++)
        support_exec(sessions[0], "CREATE TABLE oracle_%d ()", p);

    for (int i = 0; i < STEPS; i++) {
        int s = rand() % SESSIONS, p = rand() % PHASES;
        step(sessions[s], &holders[s][p], p, grants);
    }
    for (int mode = 0; mode < 2; mode++) /* the schedule met both answers */
        assert_true(grants[mode][false] > STEPS / 50 && grants[mode][true] > STEPS / 50);
    for (int s = 0; s < SESSIONS; s++)
        for (int p = 0; p < PHASES; p++)
            if (holders[s][p].holds)
                step(sessions[s], &holders[s][p], p, grants);
    assert_int_equal(support_int(sessions[0], "SELECT count(*) FROM lockstep.lock_list()"), 0);
    for (int s = 0; s < SESSIONS; s++) {
        db_close(sessions[s]);
        for (int p = 0; p < PHASES; p++)
            db_close(holders[s][p].oracle);
    }
}

static void n_takes_need_n_releases(void **state)
{
    (void)state;
    struct err err;
    struct db *one = support_db(), *other = support_db();
    assert_ok(locks_shared(one, 7, 0, &err), &err);
    assert_ok(locks_shared(one, 7, 1, &err), &err);
    assert_ok(locks_release(one, 7, LOCKS_SHARED, &err), &err);
    assert_rc(locks_intent(other, 7, 0, &err), RC_NONE, &err);
    assert_ok(locks_release(one, 7, LOCKS_SHARED, &err), &err);
    assert_ok(locks_intent(other, 7, 0, &err), &err);
    assert_ok(locks_intent(other, 7, 0, &err), &err);
    assert_ok(locks_release(other, 7, LOCKS_INTENT, &err), &err);
    assert_rc(locks_shared(one, 7, 0, &err), RC_NONE, &err);
    db_close(one);
    db_close(other);
}

static void no_warning(void *context, const char *severity, const char *message)
{
    (void)severity;
    (void)message;
    (*(int *)context)++;
}

static void releasing_what_is_not_held_is_a_bug_said_aloud(void **state)
{
    (void)state;
    struct err err;
    int warnings = 0;
    struct db *db = support_db();
    support_on_notice(db, no_warning, &warnings);
    assert_rc(locks_release(db, 7, LOCKS_SHARED, &err), RC_FATAL, &err);
    assert_rc(locks_release(db, 7, LOCKS_INTENT, &err), RC_FATAL, &err);
    assert_non_null(strstr(err.message, "intent lock of phase 7"));
    assert_int_equal(warnings, 2);
    db_close(db);
}

static void a_sharer_that_passes_through_refuses_nobody(void **state)
{
    (void)state;
    struct err err;
    struct db *passing = support_db(), *claim = support_db();
    /* inside lockstep_test.lock_shared, between its two waits and its commit */
    support_exec(passing, "BEGIN");
    assert_ok(locks_shared(passing, 7, 1, &err), &err);
    assert_ok(locks_shared(claim, 7, 0, &err), &err);
    support_exec(passing, "COMMIT");
    db_close(passing);
    db_close(claim);
}

static void a_wait_that_ends_in_nothing_leaves_the_session_as_it_was(void **state)
{
    (void)state;
    struct err err;
    struct db *holder = support_db(), *waiter = support_db();
    support_exec(waiter, "SET lock_timeout = '77s'");
    assert_ok(locks_intent(holder, 7, 0, &err), &err);
    assert_rc(locks_shared(waiter, 7, 20, &err), RC_NONE, &err);
    assert_string_equal(support_text(waiter, "SHOW lock_timeout"), "77s");
    assert_ok(locks_release(holder, 7, LOCKS_INTENT, &err), &err);
    support_exec(waiter, "BEGIN");
    assert_ok(locks_shared(waiter, 7, 20, &err), &err);
    assert_string_equal(support_text(waiter, "SHOW lock_timeout"), "77s");
    support_exec(waiter, "ROLLBACK"); /* what is kept is kept at session level */
    assert_rc(locks_intent(holder, 7, 0, &err), RC_NONE, &err);
    assert_ok(locks_release(waiter, 7, LOCKS_SHARED, &err), &err);
    db_close(holder);
    db_close(waiter);
}

static void phases_far_beyond_32_bits_have_locks_of_their_own(void **state)
{
    (void)state;
    struct err err;
    struct db *one = support_db(), *other = support_db();
    static const int64_t ids[] = {1,         (1LL << 30) - 1, 1LL << 30, (1LL << 31) - 1,
                                  1LL << 31, (1LL << 31) + 2, 1LL << 45};
    int count = (int)(sizeof ids / sizeof *ids);
    for (int i = 0; i < count - 1; i++)
        assert_ok(locks_intent(one, ids[i], 0, &err), &err);
    for (int i = 0; i < count - 1; i++)
        assert_rc(locks_shared(other, ids[i], 0, &err), RC_NONE, &err);
    for (int i = 0; i < count - 1; i++)
        assert_ok(locks_release(one, ids[i], LOCKS_INTENT, &err), &err);
    assert_ok(locks_shared(other, ids[count - 1], 0, &err), &err);
    assert_ok(locks_release(other, ids[count - 1], LOCKS_SHARED, &err), &err);
    db_close(one);
    db_close(other);
}

static void the_list_shows_who_holds_and_who_waits(void **state)
{
    (void)state;
    struct err err;
    DB_RESULT_AUTO *list = NULL;
    struct db *one = support_db(), *other = support_db(), *third = support_db();
    assert_ok(locks_shared(one, 7, 0, &err), &err);
    assert_ok(locks_intent(other, 8, 0, &err), &err);
    assert_ok(locks_life(other, 3, &err), &err);
    assert_ok(phaselock_list(third, &list, &err), &err);
    assert_int_equal(db_rows(list), 3);
    assert_string_equal(db_column_name(list, 0), "kind");
    for (int row = 0; row < 3; row++)
        assert_string_equal(db_text(list, row, 2), "held");
    assert_int_equal(support_int(third,
                                 "SELECT count(*) FROM lockstep.lock_list() WHERE (kind, mode, "
                                 "phase_id, pid) = ('phase', 'shared', 7, %d) OR (kind, mode, "
                                 "phase_id, pid) = ('phase', 'intent', 8, %d) OR (kind, mode, pid) "
                                 "= ('executor', 'exclusive', %d)",
                                 db_backend_pid(one), db_backend_pid(other), db_backend_pid(other)),
                     3);
    db_close(one);
    db_close(other);
    db_close(third);
}

static void an_executor_lives_while_its_session_does(void **state)
{
    (void)state;
    struct err err;
    struct db *life = support_db(), *second = support_db(), *asker = support_db();
    support_exec(asker,
                 "INSERT INTO lockstep.executor (executor_no, executor_id, host, pid, version, "
                 "readers, queues) OVERRIDING SYSTEM VALUE "
                 "VALUES (5, gen_random_uuid(), 'h', 1, '1', 1, '{}')");
    assert_false(locks_lives(asker, 5));
    assert_ok(locks_life(life, 5, &err), &err);
    assert_true(locks_lives(asker, 5));
    assert_rc(locks_life(second, 5, &err), RC_NONE, &err);
    int pid = db_backend_pid(life);
    db_close(life);
    support_await(asker, 5000, /* the backend needs a moment to see that we hung up */
                  "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %d)", pid);
    assert_false(locks_lives(asker, 5));
    db_close(second);
    db_close(asker);
}

static void two_who_ask_whether_an_executor_lives_do_not_see_each_other(void **state)
{
    (void)state;
    struct db *one = support_db(), *other = support_db();
    support_exec(one, "BEGIN"); /* keeps its question open */
    assert_false(locks_lives(one, 5));
    assert_false(locks_lives(other, 5));
    db_close(one);
    db_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_matrix_is_that_of_share_and_row_exclusive, teardown),
        cmocka_unit_test_teardown(n_takes_need_n_releases, teardown),
        cmocka_unit_test_teardown(releasing_what_is_not_held_is_a_bug_said_aloud, teardown),
        cmocka_unit_test_teardown(a_sharer_that_passes_through_refuses_nobody, teardown),
        cmocka_unit_test_teardown(a_wait_that_ends_in_nothing_leaves_the_session_as_it_was,
                                  teardown),
        cmocka_unit_test_teardown(phases_far_beyond_32_bits_have_locks_of_their_own, teardown),
        cmocka_unit_test_teardown(the_list_shows_who_holds_and_who_waits, teardown),
        cmocka_unit_test_teardown(an_executor_lives_while_its_session_does, teardown),
        cmocka_unit_test_teardown(two_who_ask_whether_an_executor_lives_do_not_see_each_other,
                                  teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
