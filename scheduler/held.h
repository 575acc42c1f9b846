/**
 * What: the warning of a dispatcher that a session holds the row of a job whose time has come.
 * Invariants: at most one look in five seconds, and only while something that is due is passed
 *   over. One line for each schedule, time and session, until the session has let go.
 * Threads: that of the session.
 * Ownership: struct held owns what it remembers; held_done frees it.
 * Failure: as db_run.
 */
#ifndef SCHEDULER_HELD_H
#define SCHEDULER_HELD_H

#include "base/str.h"
#include "db/db.h"

/** Zero: nothing is known. */
struct held {
    int64_t check_us; /* by the boot clock: not before */
    struct str known; /* a line for each that was logged and is still held */
};

/** wait_ms: until the next round; a short one means that something may be passed over. */
MUST_CHECK enum rc held_check(struct held *held, struct db *db, int wait_ms, struct err *err);

void held_done(struct held *held);

#endif
