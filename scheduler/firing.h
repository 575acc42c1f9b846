/**
 * What: the statements of a dispatcher, a transaction each: decide the schedules that are due, and
 *   report the results of SQL of users.
 * Invariants: each decision is logged and counted once, when it is committed.
 * Threads: those of the session's owner.
 * Ownership: an ask that is returned belongs to the caller.
 * Failure: as db_run; lasting_held finds the errors of a row that another session holds.
 */
#ifndef SCHEDULER_FIRING_H
#define SCHEDULER_FIRING_H

#include "scheduler/ask.h"
#include "scheduler/dispatcher.h"

/** The longest sleep of a dispatcher: a notification may be lost. */
#define FIRING_CHECK_US (60 * 1000 * 1000LL)

struct firing_turn {
    bool asks;       /* SQL of users can be run now */
    int most;        /* firings */
    const char *now; /* what is due then; NULL: now */
};

/** The lock of dispatch, if no session has it. */
MUST_CHECK enum rc firing_lock(struct db *db, bool *ret_locked, struct err *err);

/** *ret_wait_us: -1: something was decided, and more may be due; otherwise how long nothing is.
 * *ret_ask: SQL of users is to be run; otherwise NULL. */
MUST_CHECK enum rc firing_fire(struct db *db, const struct dispatcher_options *options,
                               const struct firing_turn *turn, int64_t *ret_wait_us,
                               struct ask **ret_ask, struct err *err);

/** Reports the result of SQL of users. *ret_ask: a look may lead to a firing that asks. */
MUST_CHECK enum rc firing_report(struct db *db, const struct dispatcher_options *options,
                                 const struct ask *ask, struct ask **ret_ask, struct err *err);

#endif
