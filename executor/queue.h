/**
 * What: the row of a lane's queue: read, and what of it operators change while the queue is worked
 *   off.
 * Invariants: whatever halts the queue passes lane_halted.
 * Threads: control.
 * Ownership: a result belongs to the caller.
 * Failure: RC_FATAL, ERR_CONFIG: there is no such queue.
 */
#ifndef EXECUTOR_QUEUE_H
#define EXECUTOR_QUEUE_H

#include "base/err.h"

struct db_result;
struct lane;

/** As it is now: sql/executor/queue.sql. */
MUST_CHECK enum rc lane_row(struct lane *lane, struct db_result **ret_row, struct err *err);
void lane_settings(struct lane *lane, const struct db_result *row);
/* Its row says that it is halted. */
void lane_halted(struct lane *lane);

#endif
