/**
 * What: how the files of phaselock/ react to a lock statement that failed.
 * Invariants: after an error it is not known whether a session-level lock was granted (a cancel may
 *   arrive just after the function returned), so the session is to be dropped. Two exceptions: a
 *   full lock table, found before anything was kept, and a row that another session holds.
 * Threads: any.
 * Ownership: borrows err.
 * Failure: none.
 */
#ifndef PHASELOCK_FAILED_H
#define PHASELOCK_FAILED_H

#include "base/err.h"

#define LOCK_TABLE_HINT                                                                            \
    "Raise max_locks_per_transaction (it needs a restart), or find who takes so many locks: "      \
    "SELECT pid, count(*) FROM pg_locks GROUP BY pid ORDER BY 2 DESC."

/** Turns the reaction to the statement into the reaction to the lock. err must not be NULL. */
enum rc phaselock_failed(enum rc rc, struct err *err);

#endif
