/**
 * What: takes in all notifications, and acts upon them once.
 * Invariants: anybody may send them, so what takes statements is not done all the time.
 * Threads: control.
 * Ownership: -
 * Failure: as db.h.
 */
#ifndef EXECUTOR_HEAR_H
#define EXECUTOR_HEAR_H

#include "base/err.h"

#include <stdint.h>

struct executor;
struct lane;

struct hearing {
    unsigned heard;        /* notifications that were not acted upon yet, as bits */
    int64_t obey_after_us; /* what operators ask for is not read before */
};

MUST_CHECK enum rc hear(struct executor *ex, struct err *err);
/* What operators ask for is looked at again. */
void hear_again(struct lane *lane);
int64_t hear_due_us(const struct lane *lane); /* 0: nothing waits */

#endif
