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

MUST_CHECK enum rc record(struct executor *ex, struct work *work, struct err *err);
/** The attempt has ended without a record: takes work. */
MUST_CHECK enum rc record_lost(struct lane *lane, struct work *work, struct err *err);
void record_completed(struct executor *ex, struct work *work); /* takes no statement */

#endif
