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

/** *ret_kind and *ret_hint (may be NULL) come from the same row of the table. */
enum rc sqlstate_reaction(const char *sqlstate, enum err_kind *ret_kind, const char **ret_hint);

#endif
