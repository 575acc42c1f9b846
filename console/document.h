/**
 * What: the document that answers a call: the one column of its route's statement, or the result of
 *   a function of routes.c.
 * Invariants: a read is cancelled in PostgreSQL when its client goes away.
 * Threads: any.
 * Ownership: appended to the caller's text.
 * Failure: as db_run; RC_NONE: there is no such thing.
 */
#ifndef CONSOLE_DOCUMENT_H
#define CONSOLE_DOCUMENT_H

#include "console/route.h"

#include "base/str.h"

/** On a session that the caller has taken. */
MUST_CHECK enum rc document_make(const struct route_context *context, struct db *db,
                                 const struct route *route, const char *const *params,
                                 struct str *document, struct err *err);
/** On the visitor's. */
MUST_CHECK enum rc document_read(struct visitor *visitor, const struct route_context *context,
                                 const struct route *route, const char *const *params,
                                 struct str *document, struct err *err);

#endif
