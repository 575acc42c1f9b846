/**
 * What: a reader is done with a task; the record itself was made in the task's own transaction.
 * Invariants: each work that a reader returns comes here once.
 * Threads: control.
 * Ownership: takes the work.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_RECORD_H
#define EXECUTOR_RECORD_H

#include "base/err.h"

#include <stdint.h>

struct executor;
struct lane;
struct work;

/** What the last tasks of a lane show. */
struct worked {
    int64_t run, order; /* the phase of which a task came back last */
    double task_us;     /* how long a task takes: moving average, quick to rise */
};

MUST_CHECK enum rc record(struct executor *ex, struct work *work, struct err *err);
/** The attempt has ended without a record: takes work. */
MUST_CHECK enum rc record_lost(struct lane *lane, struct work *work, struct err *err);
void record_completed(struct executor *ex, struct work *work); /* takes no statement */

#endif
