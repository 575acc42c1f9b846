/**
 * What: rejected messages that are published again as one run, corrected or as they came, by
 *   request, as `rejected redrive` does it.
 * Invariants: the codec judges each message before anything is changed, and one that would be
 *   rejected again refuses all of them. Ends of runs are left out: the new run gets its own.
 * Threads: that of the handler.
 * Ownership: appended to the caller's text.
 * Failure: RC_REJECT + ERR_USAGE: the list of messages is wrong; ERR_FAILED: a message cannot be
 *   published, or there is none.
 */
#ifndef CONSOLE_REDRIVE_H
#define CONSOLE_REDRIVE_H

#include "console/route.h"

/** params: messages, filter, reason, again, preview. */
MUST_CHECK enum rc redrive_make(const struct route_context *context, struct db *db,
                                const char *const *params, struct str *document, struct err *err);

#endif
