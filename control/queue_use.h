/**
 * What: whether a queue is at work, for commands that delete it.
 * Invariants: none.
 * Threads: any.
 * Ownership: borrows.
 * Failure: RC_RETRY + ERR_HELD: readers of an executor work on it.
 */
#ifndef CONTROL_QUEUE_USE_H
#define CONTROL_QUEUE_USE_H

#include "db/db.h"

MUST_CHECK enum rc queue_unused(struct db *db, const char *name, struct err *err);

#endif
