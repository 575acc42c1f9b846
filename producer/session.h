/**
 * What: the session of a publisher with PostgreSQL, and the lock of the queue's producers that it
 *   may hold.
 * Invariants: only session.c writes the fields. While locked is true and the session answers, no
 *   other publisher sends to the queue.
 * Threads: the caller's own.
 * Ownership: session_open gives, session_close takes; a borrowed session is closed by its owner.
 * Failure: as db/db.h; ERR_HELD: another producer has the lock; ERR_CANCELLED.
 */
#ifndef PRODUCER_SESSION_H
#define PRODUCER_SESSION_H

#include "db/db.h"
#include "producer/progress.h"
#include "producer/target.h"

struct session {
    struct db *db; /* NULL: none */
    bool locked;
};

MUST_CHECK enum rc session_open(struct session *session, const char *conninfo, struct err *err);
/** A session of the caller's that has the lock. */
struct session session_borrowed(struct db *db);
void session_close(struct session *session);
/** Acquires the lock of the queue's producers. Waits in the client for options->lock_wait_ms. */
MUST_CHECK enum rc session_lock(struct session *session, const struct target *target,
                                struct progress *progress, struct err *err);
/** Releases it, so that the next producer does not wait while this one waits for its run. */
void session_unlock(struct session *session, const struct target *target);
/** Asks the server whether the session, and with it the lock, is still there. */
MUST_CHECK enum rc session_check(const struct session *session, struct err *err);
/** The session is lost, and with it the lock. */
void session_lost(struct session *session);

#endif
