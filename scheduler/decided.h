/**
 * What: a decision of the database about a schedule comes from three statements, job_dispatch,
 *   job_looked and job_failed, and is read by the names of the first one. Their columns and words
 *   are the same, or this does not compile.
 * Invariants: as said.
 * Threads: none.
 * Ownership: none.
 * Failure: at compile time.
 */
#ifndef SCHEDULER_DECIDED_H
#define SCHEDULER_DECIDED_H

#include "sql/sql.h"

/* clang-format off */
#define SAME(name)                                                                                 \
    ((int)JOB_LOOKED_##name == (int)JOB_DISPATCH_##name &&                                         \
     (int)JOB_FAILED_##name == (int)JOB_DISPATCH_##name)
_Static_assert(SAME(VERDICT) &&
               SAME(JOB) &&
               SAME(SCHEDULE) &&
               SAME(SCHEDULED_FOR) &&
               SAME(RUN) &&
               SAME(REASON) &&
               SAME(WAIT_US) &&
               SAME(TOKEN) &&
               SAME(LOOK) &&
               SAME(MARK) &&
               SAME(QUERY) &&
               SAME(WORDS) &&
               SAME(LATE_US) &&
               SAME(IS_FIRE) &&
               SAME(IS_SKIP) &&
               SAME(IS_MISS) &&
               SAME(IS_QUEUE) &&
               SAME(IS_CANCEL) &&
               SAME(IS_WAIT) &&
               SAME(IS_LOOK) &&
               SAME(IS_ASK) &&
               SAME(IS_ERROR),
               "job_dispatch, job_looked and job_failed differ");
#undef SAME
/* clang-format on */

#endif
