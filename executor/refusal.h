/**
 * What: a claim that the database refuses for its data costs only the message that is the cause.
 * Invariants: each claim is made at most nine times with messages, and then three times as a
 *   rejection.
 * Threads: control.
 * Ownership: -
 * Failure: RC_REJECT: it was not the data; *err is as it came.
 */
#ifndef EXECUTOR_REFUSAL_H
#define EXECUTOR_REFUSAL_H

#include "base/err.h"

struct lane;

/** The database refused a claim of count messages, for err; it is to be tried again, with less. */
MUST_CHECK enum rc claim_refused(struct lane *lane, int count, struct err *err);

#endif
