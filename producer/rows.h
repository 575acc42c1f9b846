/**
 * What: the writes of publishers to the rows of runs, their own and those that a predecessor left
 *   behind.
 * Invariants: the caller holds the lock of the queue's producers.
 * Threads: the caller's own.
 * Ownership: borrows everything.
 * Failure: as db/db.h.
 */
#ifndef PRODUCER_ROWS_H
#define PRODUCER_ROWS_H

#include "producer/records.h"

/** Nothing of the run came onto the topic. */
MUST_CHECK enum rc row_cancel(struct db *db, int queue_id, const char *run, const char *why,
                              struct err *err);
/** The run is ended as aborted: the end's seq and its offset. */
MUST_CHECK enum rc row_abort(struct db *db, int queue_id, const char *run, int64_t seq,
                             int64_t offset, const char *why, struct err *err);
/** All of the run is on the topic, tasks of them; its end is at seq and offset. digest NULL: the
 * source has none. */
MUST_CHECK enum rc row_finish(struct db *db, int queue_id, const char *run, int64_t seq,
                              int64_t offset, int64_t tasks, int64_t phases, const char *digest,
                              struct err *err);

#endif
