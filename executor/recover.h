/**
 * What: asks for orphans, and adopts them: tasks that were returned, that are due for another
 *   attempt, or whose executor died.
 * Invariants: orphans.h decides when to ask; the number of tasks is measured as for a claim.
 * Guarantee: an unfinished task without a living owner gets one, and no effect of it is committed
 *   twice.
 * Mechanism: lockstep.adopt takes S of the phase, locks rows whose owner's liveness lock is free
 *   (SKIP LOCKED), and writes this executor and a new token into them. An attempt with the old
 *   token cannot commit any more, even if its process lives on.
 * Not its concern: how often to ask (orphans.h), and how a dead executor is recognised (its
 *   liveness lock is free; no clock counts).
 * Example: a run has the phases 1 (a, b), 2 (c) and 3 (d), all claimed by X, which dies after a has
 *   committed. Y adopts b, because an adoption takes tasks of the oldest phase first, runs it and
 *   opens phase 2; it adopts c then, and d in the end.
 * Threads: control.
 * Ownership: an adopted task belongs to its phase.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_RECOVER_H
#define EXECUTOR_RECOVER_H

#include "base/err.h"

struct lane;

MUST_CHECK enum rc recover(struct lane *lane, struct err *err);

#endif
