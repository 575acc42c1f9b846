/**
 * What: from the partition into the stream of a lane; where it begins, and how a queue is halted.
 * Invariants: the stream begins at the cursor of the queue's row, after the last claimed record was found where it was.
 * Threads: control.
 * Ownership: lane_close frees what lane_open made.
 * Failure: as db.h and kafka/consumer.h.
 */
#ifndef EXECUTOR_RECEIVE_H
#define EXECUTOR_RECEIVE_H

#include "executor/identity.h"

#include <stdint.h>

struct executor;
struct lane;

MUST_CHECK enum rc consumer_open(struct executor *ex, struct err *err);
/* All lanes are opened before the first one starts to read: what is asked of a broker waits behind the fetches there. */
MUST_CHECK enum rc lane_open(struct lane *lane, struct err *err);
MUST_CHECK enum rc lane_start(struct lane *lane, struct err *err);
/* When what opened it, or halted it, met a row that another session holds (lane->anew). */
void lane_anew(struct lane *lane);
MUST_CHECK enum rc lane_begin_anew(struct lane *lane, struct err *err);
MUST_CHECK enum rc
lane_assign(struct lane *lane,
            struct err *err); /* re-reads the queue's row, starts at its cursor */
/* Does what a look at the topic has found to be done. */
MUST_CHECK enum rc lane_follow(const struct identity_finding *finding, struct err *err);
MUST_CHECK enum rc lane_reread(struct lane *lane, struct err *err);
void lane_close(struct lane *lane);
MUST_CHECK enum rc receive(struct lane *lane, struct err *err);
int64_t receive_due_us(const struct lane *lane); /* 0: nothing waits */
MUST_CHECK enum rc lane_halt(struct lane *lane, const char *reason, const char *detail,
                             struct err *err);
/* Moves the cursor over the control records at the end, once. */
MUST_CHECK enum rc lane_end(struct lane *lane, struct err *err);

#endif
