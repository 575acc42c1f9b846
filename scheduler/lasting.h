/**
 * What: the one session of a thread of this folder: opened when it is needed, and opened again,
 *   with growing pauses, when it was lost.
 * Invariants: it leads to the server that it was made for: DB_SAME: to no other one, because its
 *   owner has a server; DB_NOT_OLDER: also to one that was promoted meanwhile, and from then on not
 *   back to the one before.
 * Threads: the owner's own.
 * Ownership: borrows conninfo; db belongs to it until lasting_close.
 * Failure: the error is the caller's to log: lasting_lost and lasting_works say when.
 */
#ifndef SCHEDULER_LASTING_H
#define SCHEDULER_LASTING_H

#include "base/outage.h"
#include "db/db.h"

struct lasting {
    const char *conninfo;
    enum db_role role;
    enum db_match match;
    struct db_server server; /* on which it was last, or is to be */
    int patience_ms;         /* 0: no limit */
    struct db *db;           /* NULL: lost, or not open yet */
    int backoff_ms;          /* until the next try; 0: nothing is wrong */
    struct outage outage;
};

/** Opens it, if it is not open. */
MUST_CHECK enum rc lasting_open(struct lasting *session, struct err *err);

void lasting_close(struct lasting *session);

/** Closes it; the pause grows. True: why is to be logged (base/outage.h): a log-in that is refused
 * after a lost connection is another cause. */
bool lasting_lost(struct lasting *session, const struct err *why);

/** It has done its work. True: something was wrong before. */
bool lasting_works(struct lasting *session);

/** Another session holds a row: this session is kept, and the statement is tried again later. */
bool lasting_held(enum rc rc, const struct err *err);
/** RC_OK instead of such an error. */
MUST_CHECK enum rc lasting_unless_held(enum rc rc, const struct err *err);

#endif
