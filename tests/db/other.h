/**
 * What: a statement on another session and thread, which is seen to wait for a lock and then let
 *   go.
 * Invariants: it is started once and finished once.
 * Threads: struct other runs its statement on a thread of its own; the test judges it after
 *   finish().
 * Ownership: sessions and the statement's text are borrowed until finish().
 * Failure: the test fails.
 */
#ifndef TESTS_DB_OTHER_H
#define TESTS_DB_OTHER_H

#include "db/backend.h"
#include "tests/support/support.h"

#include <pthread.h>
#include <stdio.h>

struct other {
    struct db *db;
    const char *sql;
    pthread_t thread;
    enum rc rc;
    struct err err;
    char answer[200];
};

static inline void *run_other(void *context)
{
    struct other *other = context;
    DB_RESULT_AUTO *result = NULL;
    other->rc = db_script(other->db, other->sql, &result, &other->err);
    if (other->rc == RC_OK && db_rows(result) > 0)
        (void)snprintf(other->answer, sizeof other->answer, "%s", db_text(result, 0, 0));
    return NULL;
}

static inline void start(struct other *other, struct db *db, const char *sql)
{
    *other = (struct other){.db = db, .sql = sql, .rc = RC_FATAL};
    assert_int_equal(pthread_create(&other->thread, NULL, run_other, other), 0);
}

/** Until it waits for a lock that the session `holder` has. */
static inline void await_blocked(struct db *watcher, struct db *waiter, struct db *holder)
{
    support_await(watcher, 5000, "SELECT %d = ANY (pg_blocking_pids(%d))", db_backend_pid(holder),
                  db_backend_pid(waiter));
}

static inline const char *finish(struct other *other)
{
    (void)pthread_join(other->thread, NULL);
    assert_ok(other->rc, &other->err);
    return other->answer;
}

#endif
