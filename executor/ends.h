/**
 * What: records the ends of runs that no executor has recorded: the executor that was to do it
 *   may have died before.
 * Invariants: the database decides whether a run has ended.
 * Threads: control.
 * Ownership: -
 * Failure: as db.h.
 */
#ifndef EXECUTOR_ENDS_H
#define EXECUTOR_ENDS_H

#include "base/err.h"

struct lane;

MUST_CHECK enum rc ends_record(struct lane *lane, struct err *err);

#endif
