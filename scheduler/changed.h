/**
 * What: tables of users whose rows have changed, as lockstep.table_changed notifies: the triggers
 *   on them are looked at soon.
 * Invariants: a trigger whose look or firing is out is left alone; whoever has it out calls
 *   changed_all when it is over (sql/functions/job/dispatch_rows.sql).
 * Threads: that of the session.
 * Ownership: borrows.
 * Failure: as db_run.
 */
#ifndef SCHEDULER_CHANGED_H
#define SCHEDULER_CHANGED_H

#include "base/err.h"
#include "db/db.h"

#include <stdbool.h>

/** Takes all notifications of the session. acts: what they name is looked at soon; otherwise they
 * are forgotten. *ret_changed: one was of a table. */
MUST_CHECK enum rc changed_hear(struct db *db, bool acts, bool *ret_changed, struct err *err);

/** All triggers on tables that are watched are looked at soon. */
MUST_CHECK enum rc changed_all(struct db *db, struct err *err);

/** *ret_open: rows may be on their way into the table that the look with this token is to read. */
MUST_CHECK enum rc changed_open(struct db *db, const char *token, bool *ret_open, struct err *err);

#endif
