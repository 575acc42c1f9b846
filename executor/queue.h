/**
 * What: reads the row of a lane's queue, and follows the changes that operators make to it while
 *   the executor works.
 * Invariants: every halt of the queue passes lane_halted.
 * Threads: control.
 * Ownership: a result belongs to the caller.
 * Failure: RC_FATAL, ERR_CONFIG: there is no such queue.
 */
#ifndef EXECUTOR_QUEUE_H
#define EXECUTOR_QUEUE_H

#include "base/err.h"

#include <stdbool.h>

struct db_result;
struct lane;

/** The row, as far as it is known here. */
struct queue_row {
    int id; /* 0: not read yet */
    int partition, max_readers, lookahead;
    int halt_no; /* under which everything was read */
    char topic[256];
    char keep[64]; /* what the queue keeps; "": everything */
    bool paused, halted;
};

/** As it is now: sql/executor/queue.sql. */
MUST_CHECK enum rc lane_row(struct lane *lane, struct db_result **ret_row, struct err *err);
/** All of it, with the cursor: the lane begins with it. The identity of the topic is still in the
 * row (identity_read). */
MUST_CHECK enum rc queue_read(struct lane *lane, struct db_result **ret_row, struct err *err);
/** What of it matters at once. *ret_decided: a person has decided about the halted queue since
 * queue_read. */
MUST_CHECK enum rc queue_reread(struct lane *lane, bool *ret_decided, struct err *err);
/* Its row says that it is halted. */
void lane_halted(struct lane *lane);

#endif
