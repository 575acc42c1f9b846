/**
 * What: what the SQL of attempts said, rows and notices, is kept in their rows behind their end,
 *   for several at once.
 * Invariants: of short tasks only what has said something is kept.
 * Threads: control.
 * Ownership: -
 * Failure: RC_LOST only: the attempts themselves are recorded.
 */
#ifndef EXECUTOR_SAID_H
#define EXECUTOR_SAID_H

#include "base/err.h"
#include "base/str.h"

struct executor;
struct work;

/** What is to be written: array parameters, and how many elements they have. */
struct sayings {
    struct str parameters[4];
    int count;
};

/** What the SQL of an attempt that has ended said is noted, and written for all that were. */
void said_note(struct executor *ex, const struct work *work);
MUST_CHECK enum rc said_write(struct executor *ex, struct err *err);

#endif
