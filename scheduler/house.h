/**
 * What: the other work of a dispatcher: it cancels runs that take too long, looks at the health of
 *   the jobs, and deletes rows that are not kept.
 * Invariants: at most once a minute, and only when no firing is near, or after ten seconds of
 *   waiting for that; rows are deleted a batch at a time.
 * Threads: that of the session.
 * Ownership: borrows.
 * Failure: as db_run; a row that another session holds is no failure of house_keep.
 */
#ifndef SCHEDULER_HOUSE_H
#define SCHEDULER_HOUSE_H

#include "base/err.h"
#include "db/db.h"

#include <stdbool.h>

/** By the boot clock; 0: at once. */
struct house {
    int64_t health_us, sweep_us; /* when it is due again */
};

/** *wait_ms: until the next firing, and then without the time that this has taken; 0: there is more
 * to do. The parameters who and keep_log_ms are those of struct dispatcher_options. */
MUST_CHECK enum rc house_keep(struct house *house, struct db *db, const char *who,
                              int64_t keep_log_ms, int *wait_ms, struct err *err);

/** Cancels runs that take too long, and zombies. */
MUST_CHECK enum rc house_cancel_overdue(struct db *db, struct err *err);

/** Deletes a batch of rows that are not kept. *ret_more: there may be more. */
MUST_CHECK enum rc house_sweep(struct db *db, int64_t keep_log_ms, bool *ret_more, struct err *err);

#endif
