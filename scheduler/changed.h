/**
 * What: tables of users whose rows have changed, as lockstep.table_changed notifies: the triggers
 *   on them are looked at soon.
 * Invariants: a trigger whose look or firing is out is left alone; the dispatcher calls changed_all
 *   when that is over (sql/functions/job/dispatch_rows.sql).
 * Threads: that of the session.
 * Ownership: borrows.
 * Failure: as db_run.
 */
#ifndef SCHEDULER_CHANGED_H
#define SCHEDULER_CHANGED_H

#include "base/err.h"
#include "db/db.h"

#include <stdbool.h>

/** Notifications that wait: a busy table notifies at each statement, and is looked at once a
 * second; or once more, because another session held the row of a trigger. */
struct changed {
    int64_t relations[64]; /* tables that are distinguished; of more all are looked at */
    int count;             /* how many; one more than fit: any */
    int64_t at_us;         /* by the boot clock: they wait until then */
};

/** Takes all notifications of the session. *ret_rows: one was of a table, which is remembered;
 * *ret_others: one was of anything else. */
MUST_CHECK enum rc changed_receive(struct changed *changed, struct db *db, bool *ret_rows,
                                   bool *ret_others, struct err *err);

/** The triggers on the tables that are remembered are looked at soon, unless they still wait. */
MUST_CHECK enum rc changed_act(struct changed *changed, struct db *db, struct err *err);

/** All triggers on tables that are watched are looked at soon; nothing is remembered any more, but
 * for a row that is held. */
MUST_CHECK enum rc changed_all(struct changed *changed, struct db *db, struct err *err);

/** Until changed_act has something to do; at most most_ms. */
int changed_wait_ms(const struct changed *changed, int most_ms);

/** *ret_open: rows may be on their way into the table that the look with this token is to read. */
MUST_CHECK enum rc changed_open(struct db *db, const char *token, bool *ret_open, struct err *err);

#endif
