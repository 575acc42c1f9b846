/**
 * What: takes in all notifications, and reacts to each kind of them once.
 * Invariants: any login may send them, so the reaction that takes statements has pauses. Only
 *   notifications.c writes the fields.
 * Threads: control.
 * Ownership: embedded in the lane.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_NOTIFICATIONS_H
#define EXECUTOR_NOTIFICATIONS_H

#include "base/err.h"

#include <stdint.h>

struct executor;
struct lane;

struct notifications {
    unsigned received;         /* kinds to which control has not reacted yet, as bits */
    int64_t requests_after_us; /* the requests of operators are not read before */
};

MUST_CHECK enum rc notifications_take(struct executor *ex, struct err *err);
/** The requests of operators are read again. */
void notifications_repeat_requests(struct notifications *notifications);
int64_t notifications_due_us(const struct lane *lane); /* 0: nothing waits */

#endif
