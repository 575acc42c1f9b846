/**
 * What: from a rejected message, corrected or as it came, to the line of staged work that is
 *   published instead of it, by command and by request.
 * Invariants: run, seq and previous_order are the producer's and new; the order is kept. A line
 *   that passes here is a task.
 * Threads: any.
 * Ownership: appended to the caller's text.
 * Failure: RC_REJECT: the codec's own words (task/message.h): the message would be rejected again.
 */
#ifndef CONTROL_REDRIVE_H
#define CONTROL_REDRIVE_H

#include "base/err.h"
#include "base/str.h"

/** The bytes that \x... of a bytea says. */
void redrive_bytes(const char *hex, struct str *bytes);
/** order: instead of the message's, as JSON; NULL: its own. */
MUST_CHECK enum rc redrive_line(const char *text, size_t len, const char *order, struct str *line,
                                struct err *err);

#endif
