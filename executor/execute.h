/**
 * What: hands startable tasks to readers that hold a slot, shows what runs for long, and ends what has run out of its time.
 * Invariants: control decides, readers run. No reader has a second task before each has a first one.
 * Threads: control.
 * Ownership: a work that a reader has belongs to it.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_EXECUTE_H
#define EXECUTOR_EXECUTE_H

#include "base/err.h"

#include <stdbool.h>

struct executor;
struct lane;

MUST_CHECK enum rc execute(struct lane *lane, struct err *err);
/* Of all lanes, as far as it takes no statement: what may start goes to readers that have a slot for it. */
void hand_on(struct executor *ex);
/* Ends attempts that have run out of their time. */
void time_out(struct executor *ex, int *ret_timeout_ms);
MUST_CHECK enum rc mark_running(struct executor *ex, int *ret_timeout_ms, struct err *err);
MUST_CHECK enum rc slots_return(struct executor *ex, bool all, int *ret_timeout_ms,
                                struct err *err);

#endif
