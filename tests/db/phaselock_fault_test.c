/* Cancels and kills at every moment, and time-outs that race with grants: nothing may be left.
 * Sessions that met an error are dropped, as phaselock.h asks; all others must hold exactly what
 * they know of. */
#include "base/clock.h"
#include "base/str.h"
#include "db/backend.h"
#include "db/canceller.h"
#include "phaselock/phaselock.h"
#include "tests/support/locks.h"
#include "tests/support/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define WORKERS 6
#define RUN_US  (3 * 1000 * 1000)
#define MOST_US                                                                                    \
    (60 * 1000 * 1000LL) /* on a machine that is slow: until there was enough of everything */

enum fault { FAULT_NONE, FAULT_CANCEL, FAULT_KILL };

struct worker {
    const char *conninfo;
    enum locks_mode mode;
    unsigned seed;
    atomic_bool *stop;
    atomic_int *inside; /* per mode */
    pthread_mutex_t lock;
    struct db_canceller *canceller; /* under lock */
    int pid;                        /* under lock */
    struct db *db;
    atomic_int grants, refusals, lost, together, wrong;
};

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

/* A session that met an error may hold anything: dropped, and all of it with it. */
static void reopen(struct worker *worker)
{
    struct err err;
    pthread_mutex_lock(&worker->lock);
    db_canceller_free(worker->canceller);
    worker->canceller = NULL;
    pthread_mutex_unlock(&worker->lock);
    db_close(worker->db);
    worker->db = NULL;
    while (worker->db == NULL && db_open(worker->conninfo, DB_CONTROL, &worker->db, &err) != RC_OK)
        ;
    pthread_mutex_lock(&worker->lock);
    worker->canceller = db_canceller_new(worker->db);
    worker->pid = db_backend_pid(worker->db);
    pthread_mutex_unlock(&worker->lock);
}

static enum rc take(struct worker *worker, struct err *err)
{
    int wait_ms = rand_r(&worker->seed) % 6; /* 0: the try */
    return worker->mode == LOCKS_SHARED ? locks_shared(worker->db, 7, wait_ms, err)
                                        : locks_intent(worker->db, 7, wait_ms, err);
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct err err;
    while (!atomic_load(worker->stop)) {
        enum rc rc = take(worker, &err);
        worker->refusals += rc == RC_NONE;
        if (rc == RC_OK) {
            worker->grants++;
            atomic_fetch_add(&worker->inside[worker->mode], 1);
            worker->together += atomic_load(&worker->inside[!worker->mode]) != 0;
            if (rand_r(&worker->seed) % 4 == 0) /* work: lets the others run into time-outs */
                rc = db_script(worker->db, "SELECT pg_sleep(0.003)", NULL, &err);
            atomic_fetch_sub(&worker->inside[worker->mode], 1);
            enum rc released = locks_release(worker->db, 7, worker->mode, &err);
            rc = rc == RC_OK ? released : rc;
        }
        worker->wrong += rc == RC_FATAL || rc == RC_REJECT;
        if (rc != RC_OK && rc != RC_NONE) {
            worker->lost++;
            reopen(worker);
        }
    }
    return NULL;
}

struct counts {
    int grants, refusals, lost, together, wrong;
};

static struct counts count(struct worker *workers)
{
    struct counts all = {0};
    for (int i = 0; i < WORKERS; i++) {
        all.grants += workers[i].grants;
        all.refusals += workers[i].refusals;
        all.lost += workers[i].lost;
        all.together += workers[i].together;
        all.wrong += workers[i].wrong;
    }
    return all;
}

static bool enough(struct worker *workers, enum fault fault)
{
    struct counts all = count(workers);
    return all.grants > 300 && all.refusals > 300 && (fault == FAULT_NONE || all.lost > 20);
}

/* Cancels or terminates one of the sessions, again and again, at moments of its own. */
static void inject(struct db *db, struct worker *workers, enum fault fault)
{
    unsigned seed = 1;
    int64_t from_us = clock_boot_us(), ran_us = 0;
    while (ran_us < RUN_US || (ran_us < MOST_US && !enough(workers, fault))) {
        ran_us = clock_boot_us() - from_us;
        struct worker *victim = &workers[rand_r(&seed) % WORKERS];
        pthread_mutex_lock(&victim->lock);
        int pid = victim->pid;
        if (fault == FAULT_CANCEL && victim->canceller != NULL)
            db_cancel(victim->canceller);
        pthread_mutex_unlock(&victim->lock);
        if (fault == FAULT_KILL)
            support_exec(
                db, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %d", pid);
        support_exec(db, "SELECT pg_sleep(%s)", fault == FAULT_KILL ? "0.01" : "0.001");
    }
}

static void nothing_is_left_over_after(enum fault fault)
{
    const char *conninfo = support_database();
    struct db *watcher = support_db();
    atomic_bool stop = false;
    atomic_int inside[2] = {0, 0};
    pthread_t threads[WORKERS];
    struct worker workers[WORKERS] = {0};
    for (int i = 0; i < WORKERS; i++) {
        struct worker *worker = &workers[i];
        worker->conninfo = conninfo;
        worker->mode = i % 2 ? LOCKS_SHARED : LOCKS_INTENT;
        worker->seed = (unsigned)i + 1;
        worker->stop = &stop;
        worker->inside = inside;
        (void)pthread_mutex_init(&worker->lock, NULL);
        reopen(worker);
        assert_int_equal(pthread_create(&threads[i], NULL, work, worker), 0);
    }
    inject(watcher, workers, fault);
    atomic_store(&stop, true);
    for (int i = 0; i < WORKERS; i++)
        (void)pthread_join(threads[i], NULL);
    struct counts all = count(workers);
    print_message("%d grants, %d refusals, %d sessions lost\n", all.grants, all.refusals, all.lost);
    assert_int_equal(all.wrong, 0);
    if (fault != FAULT_KILL) /* who is killed does not know it yet while another is let in */
        assert_int_equal(all.together, 0);
    assert_true(enough(workers, fault));
    assert_true(fault != FAULT_NONE || all.lost == 0);
    /* The sessions are still open, and none of them holds anything: the dropped ones are gone. */
    support_await(watcher, 5000, "SELECT NOT EXISTS (SELECT FROM lockstep.lock_list())");
    for (int i = 0; i < WORKERS; i++) {
        db_canceller_free(workers[i].canceller);
        db_close(workers[i].db);
        (void)pthread_mutex_destroy(&workers[i].lock);
    }
    db_close(watcher);
}

static void time_outs_that_race_with_grants_leave_nothing_over(void **state)
{
    (void)state;
    nothing_is_left_over_after(FAULT_NONE);
}

static void cancels_at_every_moment_leave_nothing_over(void **state)
{
    (void)state;
    nothing_is_left_over_after(FAULT_CANCEL);
}

static void kills_at_every_moment_leave_nothing_over(void **state)
{
    (void)state;
    nothing_is_left_over_after(FAULT_KILL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(time_outs_that_race_with_grants_leave_nothing_over, teardown),
        cmocka_unit_test_teardown(cancels_at_every_moment_leave_nothing_over, teardown),
        cmocka_unit_test_teardown(kills_at_every_moment_leave_nothing_over, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
