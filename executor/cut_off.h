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

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct executor;
struct reader;
struct readers;

/** Of the readers that may be used, those without a session, at the last turn. */
struct cut_off {
    int count, limit; /* of so many */
    int64_t again_us; /* then it is logged again, */
    int wait_s;       /* after so long */
};

/** The hint for a login that was refused, if *why is that; else its own hint. */
const char *login_hint(const struct err *why);
/* Readers that cannot open a session get nothing; of all of them, this executor takes no work. */
MUST_CHECK enum rc cut_off_watch(struct executor *ex, struct err *err);
/** May be used, and has a session. */
bool reader_usable(const struct readers *readers, const struct reader *reader);
int readers_usable(const struct readers *readers);
/* All running tasks are with readers that have no session: control cannot see their end. */
bool cut_off_all_that_runs(const struct readers *readers);

#endif
