/**
 * What: one round of a dispatcher, for a cron of the user's: decides all that is due when it
 *   begins, SQL of users and triggers of rows included, and ends.
 * Invariants: a schedule that becomes due meanwhile is not decided, so that the round ends. A row
 *   that another session holds is tried again for ten seconds.
 * Threads: the caller's alone.
 * Ownership: borrows the strings.
 * Failure: RC_RETRY + ERR_HELD: something that was due is left; all else was decided. Otherwise the
 *   database's.
 */
#ifndef SCHEDULER_ONCE_H
#define SCHEDULER_ONCE_H

#include "scheduler/dispatcher.h"

/** On this session. *ret_held: another session has the lock of dispatch, so nothing was done. */
MUST_CHECK enum rc dispatch_once(struct db *db, const struct dispatcher_options *options,
                                 bool *ret_held, struct err *err);

#endif
