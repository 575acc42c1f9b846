/**
 * What: is everything done? For --until-idle: at the topics' ends, and nothing unfinished, here or
 *   elsewhere.
 * Invariants: asked rarely: other executors may still be at work.
 * Threads: control.
 * Ownership: -
 * Failure: RC_FATAL: a queue is halted.
 */
#ifndef EXECUTOR_IDLE_H
#define EXECUTOR_IDLE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct executor;

struct idling {
    int64_t asked_us; /* when the database was last asked for unfinished tasks */
    bool logged;      /* the log says why the queue waits */
};

MUST_CHECK enum rc idle(struct executor *ex, bool *ret_idle, struct err *err);
int64_t idle_due_us(const struct executor *ex); /* 0: not by time */

#endif
