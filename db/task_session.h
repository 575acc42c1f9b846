/**
 * What: a session that runs the user's SQL outside pipeline mode: one command, waited for, and how
 *   the session is cleaned of everything that the command left in it.
 * Invariants: db_clean keeps the prepared statements; db_reset leaves the session as new.
 * Threads: the session's own.
 * Ownership: borrows the session.
 * Failure: as db.h.
 */
#ifndef DB_TASK_SESSION_H
#define DB_TASK_SESSION_H

#include "db/db.h"

/** Puts the session back to how it was opened, but keeps what is prepared. Not in pipeline mode. */
MUST_CHECK enum rc db_clean(struct db *db, struct err *err);

/**
 * The user's SQL may have given the names of our prepared statements to statements of its own: from
 * now on statements of sql/ are sent as texts, until the session was cleaned or reset, or this is
 * called with false.
 */
void db_wary(struct db *db, bool wary);

/** DISCARD ALL and the settings of a new session. Not in pipeline mode. */
MUST_CHECK enum rc db_reset(struct db *db, struct err *err);

/** One command of the user's, waited for; rows are thrown away. Not in pipeline mode. COPY to or
 * from us is refused. */
MUST_CHECK enum rc db_command(struct db *db, const char *sql, int param_count,
                              const char *const *params, struct err *err);
/** In a transaction block, in a failed one? */
bool db_in_transaction(const struct db *db);

#endif
