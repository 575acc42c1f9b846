/**
 * What: from the partition into the stream of a lane, and how a queue is halted.
 * Invariants: reading begins at the cursor of the queue's row, after the last claimed record was
 *   found where it was.
 * Threads: control.
 * Ownership: -
 * Failure: as db.h and kafka/source.h.
 */
#ifndef EXECUTOR_RECEIVE_H
#define EXECUTOR_RECEIVE_H

#include "executor/identity.h"

#include <stdint.h>

struct lane;

/* Carries out the verdict of a check of the topic. */
MUST_CHECK enum rc lane_follow(const struct identity_finding *finding, struct err *err);
MUST_CHECK enum rc lane_reread(struct lane *lane, struct err *err);
MUST_CHECK enum rc receive(struct lane *lane, struct err *err);
int64_t receive_due_us(const struct lane *lane); /* 0: nothing waits */
MUST_CHECK enum rc lane_halt(struct lane *lane, const char *reason, const char *detail,
                             struct err *err);
/* Moves the cursor over the control records at the end, once. */
MUST_CHECK enum rc lane_end(struct lane *lane, struct err *err);

#endif
