/**
 * What: the readers of an executor among its queues: as many for each as for the others, and more
 *   where the others need fewer.
 * Invariants: where there are more queues than readers they take turns. share.c writes the
 *   fields, but for slots (slots.h).
 * Threads: control.
 * Ownership: share_end frees what share_start made.
 * Failure: -
 */
#ifndef EXECUTOR_SHARE_H
#define EXECUTOR_SHARE_H

#include "base/err.h"
#include "executor/slots.h"

#include <stdbool.h>
#include <stdint.h>

struct executor;
struct lane;

/** Of a lane. */
struct share {
    struct slots slots;
    int need, may;   /* readers that the lane could use, and may */
    int64_t turn;    /* its place in the line, 0: it needs none */
    int64_t turn_us; /* since when it has had some, 0: not yet */
};

/** Of the executor: the lanes that need readers, in the order of their turns. */
struct line {
    struct lane **lanes;
    int count;
    int64_t turns;     /* the last one's turn */
    bool short_handed; /* a lane should have a reader that another one has */
};

void share_start(struct executor *ex);
void share_end(struct executor *ex);
void share_readers(struct executor *ex); /* sets lane->share.may: how many each lane may use now */
int lane_readers(const struct lane *lane); /* readers to claim for */
/* None of our readers can come to it soon: they have long tasks of other queues. */
bool out_of_reach(const struct lane *lane);

#endif
