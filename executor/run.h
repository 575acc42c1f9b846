/**
 * What: one turn of the control thread: the mail of the other threads, then each lane.
 * Invariants: a turn never sleeps; it waits only for answers of the server.
 * Threads: control.
 * Ownership: -
 * Failure: as db.h: an error ends the incarnation.
 */
#ifndef EXECUTOR_RUN_H
#define EXECUTOR_RUN_H

#include "base/err.h"

#include <stdbool.h>

struct executor;

/** *ret_done: the executor has drained, or is idle and was to end then. */
MUST_CHECK enum rc run_turn(struct executor *ex, bool *ret_done, struct err *err);

#endif
