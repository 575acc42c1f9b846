/**
 * What: a change that a visitor asks for, made once, however often it is asked for with the same
 *   Idempotency-Key.
 * Invariants: the change and the note of its key are one transaction; a second request with the key
 *   waits for the first, and gets its answer. A change that was refused leaves no note: it may be
 *   tried again. A change that is made in portions is a transaction a portion, and the key is kept
 *   with the answer of the last one.
 * Threads: any.
 * Ownership: the answer is the caller's str.
 * Failure: as db_run; RC_NONE: there is no such thing. A key that was used for another request:
 *   RC_REJECT, err->code "key". A session that was lost after the change was sent: RC_LOST, and the
 *   message says that it may have been made; else it was not.
 */
#ifndef CONSOLE_CHANGE_H
#define CONSOLE_CHANGE_H

#include "console/route.h"

#include "base/str.h"

struct change {
    const struct route *route;
    const struct route_context *context;
    const char *const *params;
    const char *key;     /* NULL: none */
    const char *request; /* the text of the request: method, path, query, body */
};

MUST_CHECK enum rc change_make(struct visitor *visitor, const struct change *change,
                               struct str *answer, struct err *err);

#endif
