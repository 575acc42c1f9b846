/**
 * What: readers whose login does not let them open a session get nothing; without any reader this
 *   executor takes no work.
 * Invariants: readers try again by themselves.
 * Threads: control.
 * Ownership: -
 * Failure: as db.h.
 */
#ifndef EXECUTOR_CUT_OFF_H
#define EXECUTOR_CUT_OFF_H

#include "executor/lane.h"

#include <stdbool.h>

/** What helps when *why is that a login was refused; else what it says itself. */
const char *login_hint(const struct err *why);
/* Readers that cannot open a session get nothing; of all of them, this executor takes no work. */
MUST_CHECK enum rc cut_off_watch(struct executor *ex, struct err *err);
/** May be used, and has a session. */
static inline bool reader_usable(const struct executor *ex, const struct reader *reader)
{
    return reader - ex->readers < ex->reader_limit && !reader->cut_off;
}
static inline int readers_usable(const struct executor *ex)
{
    return ex->cut_off < ex->reader_limit ? ex->reader_limit - ex->cut_off : 0;
}
/* All that runs is with readers that have no session: nobody will hear of it. */
bool cut_off_all_that_runs(const struct executor *ex);

#endif
