/**
 * What: when a statement of control that belongs to no queue is sent again after it failed. No task
 *   and no lock depends on such a statement, so its failure ends no incarnation, unless the session
 *   is lost or a person must act.
 * Invariants: only again.c writes the fields. The pause doubles from one second to ten.
 * Threads: control.
 * Ownership: embedded in the part that sends the statement.
 * Failure: -
 */
#ifndef EXECUTOR_AGAIN_H
#define EXECUTOR_AGAIN_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct again {
    int wait_ms; /* 0: the latest one succeeded */
    int64_t at_us;
};

/** The statement has answered rc. True: it has failed, and the one before it had not: the caller
 * logs the error. */
bool again_answered(struct again *again, enum rc rc);
/** When the statement is sent again, 0: it has not failed. */
static inline int64_t again_due_us(const struct again *again)
{
    return again->wait_ms != 0 ? again->at_us : 0;
}

#endif
