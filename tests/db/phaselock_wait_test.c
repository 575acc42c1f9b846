/* Waiting: the order of entry while others keep coming, how long a refusal takes, and that opposing
 * sessions never stop each other for good. Threads return what they saw; the test thread judges. */
#include "base/clock.h"
#include "base/str.h"
#include "db/backend.h"
#include "phaselock/phaselock.h"
#include "tests/support/locks.h"
#include "tests/support/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define CROWD 3

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

/* ---- fairness: a crowd takes one mode again and again, overlapping, until the test stops it */

struct member {
    struct db *db;
    enum locks_mode mode;
    atomic_bool *stop;
    atomic_int *inside; /* of the crowd */
    int grants;
    enum rc rc;
};

static enum rc take(struct db *db, int64_t phase, enum locks_mode mode, int wait_ms,
                    struct err *err)
{
    return mode == LOCKS_SHARED ? locks_shared(db, phase, wait_ms, err)
                                : locks_intent(db, phase, wait_ms, err);
}

static void *crowd(void *context)
{
    struct member *member = context;
    struct err err;
    while (member->rc == RC_OK && !atomic_load(member->stop)) {
        member->rc = take(member->db, 7, member->mode, 10000, &err);
        if (member->rc != RC_OK)
            break;
        member->grants++;
        atomic_fetch_add(member->inside, 1);
        member->rc = db_script(member->db, "SELECT pg_sleep(0.02)", NULL, &err); /* its work */
        atomic_fetch_sub(member->inside, 1);
        if (member->rc == RC_OK)
            member->rc = locks_release(member->db, 7, member->mode, &err);
    }
    return NULL;
}

static void one_gets_in_while_others_keep_coming(enum locks_mode mode, enum locks_mode crowd_mode)
{
    struct err err;
    atomic_bool stop = false;
    atomic_int inside = 0;
    pthread_t threads[CROWD];
    struct member members[CROWD];
    struct db *one = support_db();
    for (int i = 0; i < CROWD; i++) {
        members[i] = (struct member){support_db(), crowd_mode, &stop, &inside, 0, RC_OK};
        assert_int_equal(pthread_create(&threads[i], NULL, crowd, &members[i]), 0);
    }
    enum rc rc = RC_OK;
    int entered = 0, together = 0;
    for (int round = 0; rc == RC_OK && round < 10; round++) {
        while (atomic_load(&inside) < 2) /* the crowd overlaps itself: it never leaves a gap */
            ;
        rc = take(one, 7, mode, 5000, &err);
        if (rc != RC_OK)
            break;
        entered++;
        together += atomic_load(&inside) != 0;
        rc = locks_release(one, 7, mode, &err);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < CROWD; i++)
        (void)pthread_join(threads[i], NULL);
    assert_ok(rc, &err);
    assert_int_equal(entered, 10);
    assert_int_equal(together, 0);
    for (int i = 0; i < CROWD; i++) {
        assert_int_equal(members[i].rc, RC_OK);
        assert_true(members[i].grants >= 5); /* the crowd was not shut out either */
        db_close(members[i].db);
    }
    db_close(one);
}

static void an_intent_gets_in_while_sharers_keep_coming(void **state)
{
    (void)state;
    one_gets_in_while_others_keep_coming(LOCKS_INTENT, LOCKS_SHARED);
}

static void a_sharer_gets_in_while_intents_keep_coming(void **state)
{
    (void)state;
    one_gets_in_while_others_keep_coming(LOCKS_SHARED, LOCKS_INTENT);
}

/* ---- time-outs */

static void a_refusal_takes_as_long_as_was_asked_for(void **state)
{
    (void)state;
    struct err err;
    struct db *holder = support_db(), *waiter = support_db();
    static const int waits[] = {0, 30, 700};
    for (int mode = 0; mode < 2; mode++) {
        enum locks_mode other = mode == LOCKS_SHARED ? LOCKS_INTENT : LOCKS_SHARED;
        assert_ok(take(holder, 7, other, 0, &err), &err);
        for (int i = 0; i < 3; i++) {
            int64_t start_us = clock_boot_us();
            assert_rc(take(waiter, 7, (enum locks_mode)mode, waits[i], &err), RC_NONE, &err);
            int64_t took_ms = (clock_boot_us() - start_us) / 1000;
            assert_true(took_ms >= waits[i] - 2);
            assert_true(took_ms < waits[i] + 1000);
        }
        assert_int_equal(support_int(holder, "SELECT count(*) FROM lockstep.lock_list()"), 1);
        assert_ok(locks_release(holder, 7, other, &err), &err);
    }
    db_close(holder);
    db_close(waiter);
}

struct waiting {
    struct db *db;
    int64_t phase;
    enum locks_mode mode;
    int wait_ms;
    enum rc rc;
};

static void *wait_once(void *context)
{
    struct waiting *waiting = context;
    struct err err;
    waiting->rc = take(waiting->db, waiting->phase, waiting->mode, waiting->wait_ms, &err);
    return NULL;
}

/* When the last statement of a session began, in microseconds. */
static int64_t asked_at(struct db *watcher, int pid)
{
    return support_int(watcher,
                       "SELECT (1000000 * extract(epoch FROM query_start))::int8 "
                       "FROM pg_stat_activity WHERE pid = %d",
                       pid);
}

/* Whether the lock was given to the statement that waited at its release. */
static bool wakes(struct db *holder, struct db *watcher, struct db *waiter)
{
    struct err err;
    pthread_t thread;
    struct waiting waiting = {waiter, 7, LOCKS_INTENT, 60000, RC_LOST};
    assert_ok(locks_shared(holder, 7, 0, &err), &err);
    assert_int_equal(pthread_create(&thread, NULL, wait_once, &waiting), 0);
    support_await(watcher, 5000,
                  "SELECT EXISTS (SELECT FROM lockstep.lock_list() WHERE mode = 'intent' AND state "
                  "= 'waiting' AND phase_id = 7 AND age IS NOT NULL AND %d = ANY (blocked_by))",
                  db_backend_pid(holder));
    int64_t asked = asked_at(watcher, db_backend_pid(waiter));
    enum rc released = locks_release(holder, 7, LOCKS_SHARED, &err);
    (void)pthread_join(thread, NULL);
    assert_ok(released, &err);
    assert_int_equal(waiting.rc, RC_OK);
    bool same = asked_at(watcher, db_backend_pid(waiter)) == asked;
    assert_ok(locks_release(waiter, 7, LOCKS_INTENT, &err), &err);
    return same;
}

/* A slice may end just before a release, but not before each. */
static void a_release_wakes_the_waiter_at_once(void **state)
{
    (void)state;
    struct db *holder = support_db(), *watcher = support_db(), *waiter = support_db();
    bool woken = false;
    for (int i = 0; i < 10 && !woken; i++)
        woken = wakes(holder, watcher, waiter);
    assert_true(woken);
    db_close(holder);
    db_close(watcher);
    db_close(waiter);
}

/* ---- deadlock. Rule: a session holds nothing that conflicts with what it waits for elsewhere, or
 * waits for slices only and then looks again. Slices end before deadlock_timeout, so that the
 * server never has to choose a victim (who would keep its session-level locks). */

static void sessions_that_wait_for_each_other_are_refused_and_keep_what_they_have(void **state)
{
    (void)state;
    struct err err;
    pthread_t threads[2];
    struct waiting waiting[2];
    for (int i = 0; i < 2; i++) {
        waiting[i] = (struct waiting){support_db(), 7 + (1 - i), LOCKS_INTENT, 1600, RC_OK};
        assert_ok(locks_shared(waiting[i].db, 7 + i, 0, &err), &err);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_once, &waiting[i]), 0);
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(waiting[i].rc, RC_NONE);
        assert_ok(locks_release(waiting[i].db, 7 + i, LOCKS_SHARED, &err), &err);
        db_close(waiting[i].db);
    }
}

#define OPPONENTS 4
#define ROUNDS    150

struct opponent {
    struct db *db;
    unsigned seed;
    int rounds;
    struct err err;
    enum rc rc;
};

static void *oppose(void *context)
{
    struct opponent *opponent = context;
    opponent->rc = RC_OK;
    for (int i = 0; opponent->rc == RC_OK && i < ROUNDS; i++) {
        int64_t phase = rand_r(&opponent->seed) % 3;
        enum locks_mode mode = rand_r(&opponent->seed) % 2 ? LOCKS_SHARED : LOCKS_INTENT;
        opponent->rc = take(opponent->db, phase, mode, 10000, &opponent->err);
        if (opponent->rc == RC_OK)
            opponent->rc = locks_release(opponent->db, phase, mode, &opponent->err);
        opponent->rounds += opponent->rc == RC_OK;
    }
    return NULL;
}

static void opposing_sessions_that_release_before_they_take_all_come_through(void **state)
{
    (void)state;
    pthread_t threads[OPPONENTS];
    struct opponent opponents[OPPONENTS] = {0};
    for (int i = 0; i < OPPONENTS; i++) {
        opponents[i] = (struct opponent){.db = support_db(), .seed = (unsigned)i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, oppose, &opponents[i]), 0);
    }
    for (int i = 0; i < OPPONENTS; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < OPPONENTS; i++) {
        assert_ok(opponents[i].rc, &opponents[i].err);
        assert_int_equal(opponents[i].rounds, ROUNDS);
        db_close(opponents[i].db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_intent_gets_in_while_sharers_keep_coming, teardown),
        cmocka_unit_test_teardown(a_sharer_gets_in_while_intents_keep_coming, teardown),
        cmocka_unit_test_teardown(a_refusal_takes_as_long_as_was_asked_for, teardown),
        cmocka_unit_test_teardown(a_release_wakes_the_waiter_at_once, teardown),
        cmocka_unit_test_teardown(
            sessions_that_wait_for_each_other_are_refused_and_keep_what_they_have, teardown),
        cmocka_unit_test_teardown(opposing_sessions_that_release_before_they_take_all_come_through,
                                  teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
