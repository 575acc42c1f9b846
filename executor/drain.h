/**
 * What: carries out signals: to pause the claims, to read the configuration again, to end in order.
 * Invariants: a draining executor starts nothing new, and running tasks may finish; the second
 *   signal, or the time-out, cancels them.
 * Threads: control.
 * Ownership: -
 * Failure: as db.h.
 */
#ifndef EXECUTOR_DRAIN_H
#define EXECUTOR_DRAIN_H

#include "base/err.h"
#include "executor/again.h"

#include <stdbool.h>
#include <stdint.h>

struct executor;

struct drain {
    bool draining, cancelled;
    bool claims_paused;
    int64_t until_us;       /* what runs then is cancelled */
    struct again abilities; /* the database is to forget what this executor lacked */
};

/** Does what signals have asked for since the last turn. */
MUST_CHECK enum rc drain_watch(struct executor *ex, struct err *err);
/** The time at which the rest of a drain is cancelled, or at which the abilities are noted again.
 * 0: there is none. */
int64_t drain_due_us(const struct executor *ex);

#endif
