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
/** Calls return_waiting for a caller that serves all lanes and must not stop for one of them: it
 * logs a refusal, and the tasks are late. late_send meets the error again if it lasts. */
MUST_CHECK enum rc return_or_keep(struct lane *lane, int keep, struct err *err);
/* All of a run that is not started. */
MUST_CHECK enum rc return_run(struct lane *lane, int64_t run_no, struct err *err);

#endif
