/* The bound on readers: slots taken and returned by several executors at once, executors that die
 * while their readers' statements run on, and max_readers that changes meanwhile. */
#include "base/clock.h"
#include "base/str.h"
#include "db/backend.h"
#include "db/db.h"
#include "db/notification.h"
#include "phaselock/slot.h"
#include "tests/support/locks.h"
#include "tests/support/support.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EXECUTORS 5
#define MOST      3 /* slots that one executor asks for */
#define ROUNDS    120

static int queue_id;

static int setup(void **state)
{
    (void)state;
    (void)support_database();
    struct db *db = support_db();
    queue_id = (int)support_int(
        db, "INSERT INTO lockstep.queue (name, topic, max_readers) VALUES ('q', 't', 4) "
            "RETURNING queue_id");
    support_exec(db, "INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, "
                     "queues) SELECT gen_random_uuid(), 'h', 1, 'v', 4, '{q}' FROM "
                     "generate_series(1, 9)");
    db_close(db);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    support_no_advisory_locks();
    return 0;
}

static struct slot_reader reader_of(struct db *db)
{
    return (struct slot_reader){db_backend_pid(db), db_backend_start(db)};
}

/* Takes `count` slots for readers that all run on the session `reader`. Returns how many it got. */
static int take(struct db *db, int executor_no, struct db *reader, int count, int *ret_slot_nos)
{
    struct err err;
    struct slot_reader readers[16];
    int got = 0;
    for (int i = 0; i < count; i++)
        readers[i] = reader_of(reader);
    enum rc rc = slot_take(db, queue_id, executor_no, readers, count, ret_slot_nos, &got, &err);
    assert_rc(rc, got == count ? RC_OK : RC_NONE, &err);
    return got;
}

/* ---- many at once */

struct executor {
    struct db *db, *reader;
    int executor_no;
    unsigned seed;
    atomic_int *running;
    int bound, rounds, exceeded, waits, lost_wakeups;
    enum rc rc;
    struct err err;
};

/* Waits for the notification 'slot'; false after five seconds without one. */
static bool notified(struct db *db, enum rc *ret_rc, struct err *err)
{
    const char *channel, *payload;
    int64_t end_us = clock_boot_us() + 5 * 1000 * 1000;
    for (;;) {
        do /* its own wish is notified to all */
            *ret_rc = db_notification(db, &channel, &payload, err);
        while (*ret_rc == RC_OK && strcmp(payload, "wanted") == 0);
        if (*ret_rc != RC_NONE)
            return *ret_rc == RC_OK && strcmp(payload, "slot") == 0;
        int64_t left_us = end_us - clock_boot_us();
        if (left_us <= 0)
            return false;
        struct pollfd fd = {.fd = db_socket(db), .events = POLLIN};
        (void)poll(&fd, 1, (int)(left_us / 1000) + 1);
    }
}

static enum rc one_round(struct executor *me)
{
    struct slot_reader readers[MOST] = {reader_of(me->reader), reader_of(me->reader),
                                        reader_of(me->reader)};
    int slot_nos[MOST], got = 0, wanted = 1 + rand_r(&me->seed) % MOST;
    enum rc rc =
        slot_take(me->db, queue_id, me->executor_no, readers, wanted, slot_nos, &got, &me->err);
    if (rc != RC_OK && rc != RC_NONE)
        return rc;
    if (got == 0) {
        me->waits++;
        if (!notified(me->db, &rc, &me->err))
            me->lost_wakeups++;
        return rc == RC_NONE ? RC_OK : rc;
    }
    me->exceeded += atomic_fetch_add(me->running, got) + got > me->bound;
    rc = db_script(me->reader, "SELECT pg_sleep(0.002)", NULL, &me->err);
    atomic_fetch_sub(me->running, got);
    return rc == RC_OK ? slot_release(me->db, queue_id, me->executor_no, slot_nos, got, &me->err)
                       : rc;
}

static void *execute(void *context)
{
    struct executor *me = context;
    while (me->rc == RC_OK && me->rounds < ROUNDS) {
        me->rc = one_round(me);
        me->rounds++;
    }
    if (me->rc == RC_OK) /* a registered waiter that goes: no session needs to notify it */
        support_exec(me->db, "DELETE FROM lockstep.slot_waiter WHERE executor_no = %d",
                     me->executor_no);
    return NULL;
}

static void the_bound_is_kept_and_no_wakeup_is_lost(void **state)
{
    (void)state;
    pthread_t threads[EXECUTORS];
    struct executor executors[EXECUTORS] = {0};
    atomic_int running = 0;
    for (int i = 0; i < EXECUTORS; i++) {
        executors[i] = (struct executor){.db = support_db(),
                                         .reader = support_db(),
                                         .executor_no = i + 1,
                                         .seed = (unsigned)i + 1,
                                         .running = &running,
                                         .bound = 4,
                                         .rc = RC_OK};
        support_exec(executors[i].db, "LISTEN lockstep_%d", queue_id);
    }
    for (int i = 0; i < EXECUTORS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, execute, &executors[i]), 0);
    for (int i = 0; i < EXECUTORS; i++)
        (void)pthread_join(threads[i], NULL);
    int waits = 0;
    for (int i = 0; i < EXECUTORS; i++) {
        assert_ok(executors[i].rc, &executors[i].err);
        assert_int_equal(executors[i].exceeded, 0);
        assert_int_equal(executors[i].lost_wakeups, 0);
        waits += executors[i].waits;
    }
    assert_true(waits > 10); /* they did get into each other's way */
    struct db *db = support_db();
    assert_int_equal(support_int(db, "SELECT count(*) FROM lockstep.slot WHERE pid IS NOT NULL"),
                     0);
    assert_int_equal(support_int(db, "SELECT count(*) FROM lockstep.slot_waiter"), 0);
    assert_int_equal(support_int(db, "SELECT count(*) FROM lockstep.slot"), 4);
    db_close(db);
    for (int i = 0; i < EXECUTORS; i++) {
        db_close(executors[i].db);
        db_close(executors[i].reader);
    }
}

/* ---- one thing at a time */

static void a_slot_is_not_given_twice_not_even_to_its_holder(void **state)
{
    (void)state;
    struct err err;
    int nos[4] = {0}, more[4], got;
    struct db *one = support_db(), *other = support_db();
    assert_int_equal(take(one, 1, one, 3, nos), 3);
    assert_int_equal(take(one, 1, one, 3, more), 1);
    for (int i = 0; i < 3; i++)
        assert_int_not_equal(more[0], nos[i]);
    got = take(other, 2, other, 1, more + 1);
    assert_int_equal(got, 0);
    assert_int_equal(support_int(one, "SELECT in_use FROM lockstep.reader_status WHERE executor_no "
                                      "= 1"),
                     4);
    assert_ok(slot_release(one, queue_id, 1, nos, 3, &err), &err);
    assert_int_equal(take(other, 2, other, 4, nos), 3);
    assert_ok(slot_release(one, queue_id, 1, more, 1, &err), &err);
    assert_ok(slot_release(other, queue_id, 2, nos, 3, &err), &err);
    db_close(one);
    db_close(other);
}

static void a_slot_names_the_backend_of_its_reader(void **state)
{
    (void)state;
    struct err err;
    int nos[2], got;
    struct db *db = support_db(), *first = support_db(), *second = support_db();
    struct slot_reader readers[] = {reader_of(first), reader_of(second)};
    assert_ok(slot_take(db, queue_id, 1, readers, 2, nos, &got, &err), &err);
    struct db *of[] = {first, second};
    for (int i = 0; i < 2; i++)
        assert_int_equal(support_int(db,
                                     "SELECT count(*) FROM lockstep.slot JOIN pg_stat_activity "
                                     "USING (pid, backend_start) WHERE slot_no = %d AND pid = %d",
                                     nos[i], db_backend_pid(of[i])),
                         1);
    db_close(db);
    db_close(first);
    db_close(second);
}

static void await_gone(struct db *watcher, struct db *db)
{
    int pid = db_backend_pid(db);
    db_close(db);
    support_await(watcher, 5000, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %d)",
                  pid);
}

static void a_slot_whose_backend_lives_on_is_not_handed_out(void **state)
{
    (void)state;
    struct err err;
    int nos[4];
    struct db *life = support_db(), *dead = support_db(), *reader = support_db();
    struct db *heir = support_db();
    assert_ok(locks_life(life, 1, &err), &err);
    assert_ok(locks_life(heir, 2, &err), &err);
    assert_int_equal(take(dead, 1, reader, 4, nos), 4);
    await_gone(heir, dead); /* its locks are free, its reader's statement runs on */
    assert_int_equal(take(heir, 2, heir, 4, nos), 0);
    await_gone(heir, life);
    assert_int_equal(take(heir, 2, heir, 4, nos), 0);
    await_gone(heir, reader);
    assert_int_equal(take(heir, 2, heir, 4, nos), 4);
    db_close(heir);
}

static void a_pid_that_was_given_to_another_backend_blocks_nobody(void **state)
{
    (void)state;
    int nos[4];
    struct db *heir = support_db(), *stranger = support_db();
    support_exec(heir,
                 "INSERT INTO lockstep.slot (queue_id, slot_no, executor_no, pid, backend_start) "
                 "SELECT %d, n, 1, %d, '2001-01-01 00:00:00+00' FROM generate_series(1, 4) n",
                 queue_id, db_backend_pid(stranger));
    assert_int_equal(take(heir, 2, heir, 4, nos), 4);
    db_close(heir);
    db_close(stranger);
}

static void a_backend_younger_than_the_transaction_is_seen(void **state)
{
    (void)state;
    int nos[4];
    struct db *heir = support_db();
    support_exec(heir, "BEGIN");
    assert_true(support_int(heir, "SELECT count(*) FROM pg_stat_activity") > 0); /* copies it */
    struct db *dead = support_db(), *reader = support_db(), *watcher = support_db();
    assert_int_equal(take(dead, 1, reader, 4, nos), 4);
    int pid = db_backend_pid(dead);
    db_close(dead);
    support_await(watcher, 5000,
                  "SELECT NOT EXISTS (SELECT FROM lockstep.lock_list() WHERE pid = %d)", pid);
    assert_int_equal(take(heir, 2, heir, 4, nos), 0);
    support_exec(heir, "COMMIT");
    db_close(reader);
    db_close(watcher);
    db_close(heir);
}

static void growth_is_immediate_and_shrinking_lets_finish(void **state)
{
    (void)state;
    struct err err;
    int nos[8], more[8];
    struct db *one = support_db(), *other = support_db();
    assert_int_equal(take(one, 1, one, 4, nos), 4);
    assert_int_equal(take(other, 2, other, 2, more), 0);
    support_exec(one, "UPDATE lockstep.queue SET max_readers = 6");
    assert_int_equal(take(other, 2, other, 2, more), 2);
    support_exec(one, "UPDATE lockstep.queue SET max_readers = 2");
    assert_ok(slot_release(other, queue_id, 2, more, 2, &err), &err); /* slots 5 and 6: gone */
    assert_int_equal(take(other, 2, other, 2, more), 0);
    assert_ok(slot_release(one, queue_id, 1, nos + 2, 2, &err), &err);
    assert_int_equal(take(other, 2, other, 2, more), 0); /* 1 and 2 are still in use */
    assert_ok(slot_release(one, queue_id, 1, nos, 2, &err), &err);
    assert_int_equal(take(other, 2, other, 4, more), 2);
    support_exec(one, "UPDATE lockstep.queue SET max_readers = 0");
    assert_ok(slot_release(other, queue_id, 2, more, 2, &err), &err);
    assert_int_equal(take(one, 1, one, 1, nos), 0);
    db_close(one);
    db_close(other);
}

static void who_has_ended_waits_no_more(void **state)
{
    (void)state;
    struct err err;
    int nos[4];
    struct db *holder = support_db(), *waiter = support_db();
    assert_int_equal(take(holder, 1, holder, 4, nos), 4);
    assert_int_equal(take(waiter, 2, waiter, 1, nos), 0);
    const char *id =
        support_text(waiter, "SELECT executor_id FROM lockstep.executor WHERE executor_no = 2");
    assert_ok(
        db_run(waiter, &sql_executor_end, (const char *const[]){id, "drained", NULL}, NULL, &err),
        &err);
    assert_int_equal(support_int(holder, "SELECT count(*) FROM lockstep.slot_waiter"), 0);
    db_close(holder);
    db_close(waiter);
}

static void who_waits_is_notified_and_who_does_not_is_not(void **state)
{
    (void)state;
    struct err err;
    enum rc rc;
    const char *channel, *payload;
    int nos[4], more[1];
    struct db *holder = support_db(), *waiter = support_db();
    support_exec(waiter, "LISTEN lockstep_%d", queue_id);
    assert_int_equal(take(holder, 1, holder, 4, nos), 4);
    assert_int_equal(take(waiter, 2, waiter, 1, more), 0);
    assert_int_equal(support_int(holder, "SELECT count(*) FROM lockstep.slot_waiter WHERE "
                                         "executor_no = 2"),
                     1);
    assert_ok(slot_release(holder, queue_id, 1, nos, 1, &err), &err);
    assert_rc(db_notification(waiter, &channel, &payload, &err), RC_OK, &err);
    assert_string_equal(payload, "wanted"); /* an executor that keeps idle slots may return them */
    assert_true(notified(waiter, &rc, &err));
    assert_int_equal(take(waiter, 2, waiter, 1, more), 1);
    assert_int_equal(support_int(holder, "SELECT count(*) FROM lockstep.slot_waiter"), 0);
    assert_ok(slot_release(holder, queue_id, 1, nos + 1, 3, &err), &err);
    assert_int_equal(support_int(waiter, "SELECT 1"), 1); /* would have brought it along */
    assert_rc(db_notification(waiter, &channel, &payload, &err), RC_NONE, &err);
    db_close(holder);
    db_close(waiter);
}

static int64_t first_try(struct db *db)
{
    return support_int(db,
                       "SELECT cardinality(lockstep.slot_take(%d, 2, ARRAY[pg_backend_pid()], "
                       "ARRAY[now()]))",
                       queue_id);
}

struct taker {
    struct db *db;
    int slot_no, got;
    enum rc rc;
    struct err err;
};

static void *take_one(void *context)
{
    struct taker *taker = context;
    struct slot_reader reader = reader_of(taker->db);
    taker->rc =
        slot_take(taker->db, queue_id, 2, &reader, 1, &taker->slot_no, &taker->got, &taker->err);
    return NULL;
}

/* The interleaving that slot_wait is for: returned after the first try, before the registration,
 * which a trigger holds up. */
static void who_registers_tries_once_more(void **state)
{
    (void)state;
    struct err err;
    pthread_t thread;
    int nos[4];
    struct db *holder = support_db();
    struct taker taker = {.db = support_db()};
    support_exec(holder, "CREATE FUNCTION lockstep.probe() RETURNS trigger LANGUAGE plpgsql AS $$ "
                         "BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$; "
                         "CREATE TRIGGER probe BEFORE INSERT ON lockstep.slot_waiter "
                         "FOR EACH ROW EXECUTE FUNCTION lockstep.probe()");
    assert_int_equal(take(holder, 1, holder, 4, nos), 4);
    support_exec(holder, "SELECT pg_advisory_lock(1)");
    assert_int_equal(pthread_create(&thread, NULL, take_one, &taker), 0);
    support_await(holder, 5000,
                  "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' "
                  "AND objsubid = 1 AND NOT granted)");
    enum rc released = slot_release(holder, queue_id, 1, nos, 4, &err);
    support_exec(holder, "SELECT pg_advisory_unlock(1)");
    (void)pthread_join(thread, NULL);
    assert_ok(released, &err);
    assert_ok(taker.rc, &taker.err);
    assert_int_equal(taker.got, 1);
    assert_int_equal(support_int(holder, "SELECT count(*) FROM lockstep.slot_waiter"), 0);
    db_close(holder);
    db_close(taker.db);
}

static void a_slot_kept_by_an_executor_whose_reader_died_is_not_given_to_it_twice(void **state)
{
    (void)state;
    int nos[4], more[4];
    struct db *db = support_db(), *reader = support_db();
    assert_int_equal(take(db, 1, reader, 2, nos), 2);
    int pid = db_backend_pid(reader);
    db_close(reader);
    support_await(db, 5000, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %d)", pid);
    assert_int_equal(take(db, 1, db, 4, more), 2); /* advisory locks are re-entrant */
    for (int i = 0; i < 2; i++)
        assert_true(more[i] != nos[0] && more[i] != nos[1]);
    db_close(db);
}

static void a_slot_given_back_before_the_registration_is_found_by_the_second_try(void **state)
{
    (void)state;
    struct err err;
    int nos[4];
    struct db *holder = support_db(), *waiter = support_db();
    assert_int_equal(take(holder, 1, holder, 4, nos), 4);
    assert_int_equal(first_try(waiter), 0);
    assert_ok(slot_release(holder, queue_id, 1, nos, 4, &err), &err);
    assert_int_equal(support_int(waiter, "SELECT lockstep.slot_wait(%d, 2)::int", queue_id), 1);
    assert_int_equal(first_try(waiter), 1);
    assert_int_equal(support_int(waiter, "SELECT lockstep.slot_wait(%d, 2)::int", queue_id), 1);
    assert_int_equal(support_int(waiter, "SELECT lockstep.slot_wait(%d, 2)::int", queue_id), 0);
    support_exec(waiter, "DELETE FROM lockstep.slot_waiter WHERE executor_no = 2");
    db_close(holder);
    db_close(waiter);
}

static void giving_back_what_is_not_held_is_a_bug_said_aloud(void **state)
{
    (void)state;
    struct err err;
    int nos[4];
    struct db *holder = support_db(), *other = support_db();
    assert_int_equal(take(holder, 1, holder, 4, nos), 4);
    assert_rc(slot_release(other, queue_id, 2, nos, 2, &err), RC_FATAL, &err);
    assert_non_null(strstr(err.message, "2 slots"));
    assert_int_equal(
        support_int(holder, "SELECT count(*) FROM lockstep.slot WHERE executor_no = 1"),
        4); /* no executor clears another's row */
    db_close(holder);
    db_close(other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_bound_is_kept_and_no_wakeup_is_lost),
        TEST(a_slot_is_not_given_twice_not_even_to_its_holder),
        TEST(a_slot_names_the_backend_of_its_reader),
        TEST(a_slot_whose_backend_lives_on_is_not_handed_out),
        TEST(a_pid_that_was_given_to_another_backend_blocks_nobody),
        TEST(a_backend_younger_than_the_transaction_is_seen),
        TEST(growth_is_immediate_and_shrinking_lets_finish),
        TEST(who_waits_is_notified_and_who_does_not_is_not),
        TEST(who_has_ended_waits_no_more),
        TEST(who_registers_tries_once_more),
        TEST(a_slot_kept_by_an_executor_whose_reader_died_is_not_given_to_it_twice),
        TEST(a_slot_given_back_before_the_registration_is_found_by_the_second_try),
        TEST(giving_back_what_is_not_held_is_a_bug_said_aloud),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
