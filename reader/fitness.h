/**
 * What: whether a session can record attempts: its schema has each function that records one, with
 *   the parameters that this program sends, and its login may call them.
 * Invariants: changes nothing.
 * Threads: the reader's own.
 * Ownership: borrows the session.
 * Failure: RC_FATAL: it cannot; the code is 42883 (another schema: ERR_SCHEMA) or 42501 (a right is
 *   missing, and the hint grants it). Otherwise as db.h.
 */
#ifndef READER_FITNESS_H
#define READER_FITNESS_H

#include "base/err.h"

struct db;

MUST_CHECK enum rc fitness_check(struct db *db, struct err *err);
/** Whether err is a right that fitness_check has found missing, and not one to connect, say. */
bool fitness_found(const struct err *err);

#endif
