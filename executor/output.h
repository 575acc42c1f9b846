/**
 * What: the output of attempts (rows and notices of their SQL), recorded in their rows behind their
 *   end, for several at once.
 * Invariants: of short tasks only notices are recorded. Only output.c writes the fields.
 * Threads: control.
 * Ownership: embedded in the executor.
 * Failure: RC_LOST only: the attempts themselves are recorded.
 */
#ifndef EXECUTOR_OUTPUT_H
#define EXECUTOR_OUTPUT_H

#include "base/err.h"
#include "base/str.h"

struct db;
struct work;

/** Array parameters, and how many elements they have. */
struct output {
    struct str parameters[4];
    int count;
};

/** Adds the output of an attempt that has ended. */
void output_add(struct output *output, const struct work *work);
/** Records all that was added. */
MUST_CHECK enum rc output_write(struct output *output, struct db *db, struct err *err);
void output_done(struct output *output);

#endif
