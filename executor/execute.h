/**
 * What: assigns startable tasks to readers that hold a slot, shows tasks that run for long, and
 *   ends tasks whose time is over.
 * Invariants: control decides, readers run. No reader has a second task before each has a first
 *   one.
 * Guarantee: a queue's tasks run on at most max_readers readers at a time, over all executors, and
 *   only in a phase seen open.
 * Mechanism: a reader runs tasks only while its executor holds a slot for it (phaselock/slot.h); a
 *   slot is a lock and a row, so it is free when the executor dies. Control starts only tasks of
 *   phases that its last claim, adoption or gate saw open.
 * Not its concern: the statements of a task, and how they are sent (reader/).
 * Example: a run has the phases 1 (a, b), 2 (c) and 3 (d), max_readers is 2, and X and Y have two
 *   readers each. X has both slots and runs a and b. Phase 2 is Y's: Y has no slot, notifies
 *   the others (wanted), and X releases one when it is idle over the barrier.
 * Threads: control.
 * Ownership: a work that a reader has belongs to it.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_EXECUTE_H
#define EXECUTOR_EXECUTE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct executor;
struct lane;
struct readers;

MUST_CHECK enum rc execute(struct lane *lane, struct err *err);
/* Assigns startable tasks of all lanes to readers that have a slot for them. Sends no statement. */
void assign_waiting(struct executor *ex);
/* Ends attempts that have run out of their time. */
void time_out(struct readers *readers, int64_t now_us);
MUST_CHECK enum rc mark_running(struct executor *ex, struct err *err);
/* When one of the two has something to do, 0: not by time. */
int64_t running_due_us(const struct executor *ex);
MUST_CHECK enum rc slots_return(struct executor *ex, bool all, struct err *err);
/* When an idle reader has kept its slot for long enough, 0: none has one. */
int64_t slots_return_due_us(const struct executor *ex);

#endif
