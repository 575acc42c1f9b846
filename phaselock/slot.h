/**
 * What: the bound on readers, over all executors: slots 1..max_readers of a queue. A reader runs
 *   only while its executor holds a slot for it.
 * Invariants: a slot is an exclusive advisory lock of the control session and a row that names the
 *   reader's backend; no other executor gets it before both are gone (a killed executor's lock is
 *   free at once, its statement runs on for a moment). Release a slot only when its reader has
 *   nothing under way. A reader that lost its own session keeps its slot until the old backend is
 *   gone. A slot whose number is above max_readers (it was lowered) is released after the task.
 * Threads: the control session's own.
 * Ownership: borrows the session, which owns the locks.
 * Failure: RC_LOST: drop the session, and with it all its slots. RC_RETRY: nothing was changed.
 */
#ifndef PHASELOCK_SLOT_H
#define PHASELOCK_SLOT_H

#include "db/db.h"

/** A reader's backend, as its own session reports it (db_backend_pid, db_backend_start). */
struct slot_reader {
    int pid;
    const char *backend_start; /* timestamptz as text */
};

/** Takes up to `count` slots, one for each reader in order; ret_slot_nos has room for count. RC_OK
 * when all were got, RC_NONE when *ret_count are fewer (also 0): then the executor is registered
 * and will get the notification 'slot' on channel lockstep_<queue_id> (LISTEN before the call)
 * whenever another one releases a slot. The caller also comes again when an executor dies (its
 * locks go without a notification), and soon while any slot is wanted: no notification comes when
 * the backend of a killed executor's reader ends. */
MUST_CHECK enum rc slot_take(struct db *db, int queue_id, int executor_no,
                             const struct slot_reader *readers, int count, int *ret_slot_nos,
                             int *ret_count, struct err *err);

/** Releases slots and notifies the executors that wait. RC_FATAL when one of them was not held,
 * which is a defect. */
MUST_CHECK enum rc slot_release(struct db *db, int queue_id, int executor_no, const int *slot_nos,
                                int count, struct err *err);

#endif
