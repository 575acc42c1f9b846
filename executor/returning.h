/**
 * What: returns tasks in hand to the database, for other executors.
 * Invariants: the youngest go first: all executors wait for the oldest phase.
 * Threads: control.
 * Ownership: frees the works.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_RETURNING_H
#define EXECUTOR_RETURNING_H

#include "base/err.h"

#include <stdint.h>

struct lane;

/* Returns what is not started and may start, but for `keep` tasks; keep -1: everything, open or
 * not. */
MUST_CHECK enum rc return_waiting(struct lane *lane, int keep, struct err *err);
/** The same where an error of this lane must not stop what is done for all lanes: the tasks are
 * late then, and late_send meets the error again if it lasts. */
MUST_CHECK enum rc return_or_keep(struct lane *lane, int keep, struct err *err);
/* All of a run that is not started. */
MUST_CHECK enum rc return_run(struct lane *lane, int64_t run_no, struct err *err);

#endif
