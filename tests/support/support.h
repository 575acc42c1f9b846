/**
 * What: shared by tests with servers: a database of their own, and the check that no lock is left
 *   behind; with it comes the topic (tests/support/topic.h).
 * Invariants: nothing is shared between two tests that asked for a database or a topic each.
 *   Databases go with the process; topics, and what a killed test left, go with the servers.
 * Threads: the test's own thread only.
 * Ownership: strings live until the process ends; a session belongs to the caller (db_close).
 * Failure: the test fails with the error's text; nothing is returned.
 */
#ifndef TESTS_SUPPORT_SUPPORT_H
#define TESTS_SUPPORT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"
#include "db/db.h"
#include "tests/support/rc.h"
#include "tests/support/topic.h"

/** Fails the test with the text of err unless rc is RC_OK:  assert_ok(db_open(..., &err), &err); */
#define assert_ok(rc, err) support_assert_rc(rc, RC_OK, err, __FILE__, __LINE__)
/** Fails the test unless rc is the expected one; with the text of err, if there is one. */
#define assert_rc(rc, expected, err) support_assert_rc(rc, expected, err, __FILE__, __LINE__)
void support_assert_rc(enum rc rc, enum rc expected, const struct err *err, const char *file,
                       int line);

/** Connection string of the test cluster's superuser (LOCKSTEP_TEST_PG). */
const char *support_cluster(void);

/** A fresh database with today's schema; the one that the functions below use from now on. Returns
 * its conninfo. */
const char *support_database(void);
/** A fresh database without the schema, for the tests of migrate. */
const char *support_empty_database(void);
/** The conninfo of the newest database of this process for another user: a login role made for a
 * test. */
const char *support_conninfo_as(const char *user);

/** A session on the newest database (made if there is none). */
struct db *support_db(void);

/** Runs SQL as a simple query; it must succeed. */
void support_exec(struct db *db, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** First column of the first row as an integer or as text; there must be a row. */
int64_t support_int(struct db *db, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *support_text(struct db *db, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Waits until the query's first column is true, for an act of another session or process; fails
 * after timeout_ms. */
void support_await(struct db *db, int timeout_ms, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * For every teardown: sessions closed, no advisory lock may be left in the newest database. A
 * backend needs a moment to notice that its client closed, so this waits for it, five seconds at
 * most, and then names the holders.
 */
void support_no_advisory_locks(void);

/** The server's notices go to fn, on the session's own thread, and no longer
 * to the log. One session at a time. */
typedef void support_notice_fn(void *context, const char *severity, const char *message);
void support_on_notice(struct db *db, support_notice_fn *fn, void *context);

#endif
