/**
 * What: checks before a change that the command of the same name makes, too, and a statement alone
 *   cannot: SQL of users in a job, as the tasks' login; a rejected message that is published again,
 *   by the codec.
 * Invariants: nothing is changed here; the checks are control/'s, for commands and requests alike.
 * Threads: that of the handler.
 * Ownership: borrows.
 * Failure: RC_REJECT + ERR_USAGE: err->object names the field; ERR_FAILED: it is not possible as it
 *   is.
 */
#ifndef CONSOLE_PREPARE_H
#define CONSOLE_PREPARE_H

#include "console/route.h"

/** params: jobs. */
MUST_CHECK enum rc prepare_jobs(const struct route_context *context, struct db *db,
                                const char *const *params, struct err *err);
/** params: job, definition. */
MUST_CHECK enum rc prepare_job(const struct route_context *context, struct db *db,
                               const char *const *params, struct err *err);
/** params: rejected, value. */
MUST_CHECK enum rc prepare_redrive(const struct route_context *context, struct db *db,
                                   const char *const *params, struct err *err);

#endif
