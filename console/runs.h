/**
 * What: one thing that is done with many runs, a portion a transaction.
 * Invariants: a portion begins no run after a second. Its answer counts the portions before it, and
 *   has the runs that are left: if something fails after a portion was committed, that answer is
 *   still true.
 * Threads: that of the request's handler.
 * Ownership: none.
 * Failure: as db_run.
 */
#ifndef CONSOLE_RUNS_H
#define CONSOLE_RUNS_H

#include "console/route.h"

#include "base/str.h"

/** document: the answer of the portion before, "" before the first; replaced by one that counts
 * both. */
MUST_CHECK enum rc runs_act_make(const struct route_context *context, struct db *db,
                                 const char *const *params, struct str *document, struct err *err);
/** Whether the document has runs that are left. */
bool runs_left(const struct str *document);

#endif
