/**
 * What: a replay by the API, as `lockstep replay` does it: a preview of it, or the replay itself.
 * Invariants: replay/ runs the replay; here are its options and its report. It runs on the
 *   visitor's session, so PostgreSQL checks the right. A request whose client goes interrupts it;
 *   the same request, or `resume`, continues.
 * Threads: that of the handler.
 * Ownership: appended to the caller's text.
 * Failure: as replay/replay.h; RC_REJECT + ERR_USAGE: the range is none; no broker is configured.
 */
#ifndef CONSOLE_REPLAY_H
#define CONSOLE_REPLAY_H

#include "console/route.h"

/** params: queue, mode, run, from, to, order, resume, reason, preview. */
MUST_CHECK enum rc replay_make(const struct route_context *context, struct db *db,
                               const char *const *params, struct str *document, struct err *err);

/** params: replay, reason. */
MUST_CHECK enum rc replay_abandon_make(const struct route_context *context, struct db *db,
                                       const char *const *params, struct str *document,
                                       struct err *err);

#endif
