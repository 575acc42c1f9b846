/**
 * What: the one table that turns an SQLSTATE into a reaction.
 * Invariants: no SQLSTATE (NULL or "") means the session is lost.
 * Threads: any.
 * Ownership: none.
 * Failure: none.
 */
#ifndef DB_SQLSTATE_H
#define DB_SQLSTATE_H

#include "base/err.h"
#include <stdbool.h>

/** *ret_kind and *ret_hint (may be NULL) come from the same row of the table. */
enum rc sqlstate_reaction(const char *sqlstate, enum err_kind *ret_kind, const char **ret_hint);

/** The server has undone the statement for another session's sake, a deadlock or a serialization failure, and is well: the statement, or its
 * transaction, is simply repeated, at most so many times. */
#define UNDONE_MOST 8
bool sqlstate_undone(const char *sqlstate);

#endif
