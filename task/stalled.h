/**
 * What: notices that a run makes no progress, and asks the database why (lockstep.explain), for
 *   those who wait for it or watch it.
 * Invariants: a reason is reported once, and again only after another one. The waits of a healthy
 *   run, such as for its own running tasks, are no reason. Two cheap statements a second at most.
 * Threads: one at a time; the statements run on the caller's session.
 * Ownership: plain data, nothing to free.
 * Failure: a caller who may not see the run gets RC_NONE. RC_LOST and RC_RETRY are the session's,
 *   and the caller's to mend.
 */
#ifndef TASK_STALLED_H
#define TASK_STALLED_H

#include "db/db.h"

#include <stdbool.h>
#include <stdint.h>

struct stalled {
    int64_t since_us, check_us; /* the last progress; not again before */
    bool refused;               /* this session may not see it */
    char pulse[200], reason[64];
    char sentence[1024]; /* why; "" after progress */
};

/** RC_OK: stalled->sentence is new. RC_NONE: no new reason. */
MUST_CHECK enum rc stalled_check(struct stalled *stalled, struct db *db, int64_t run_no,
                                 struct err *err);

#endif
