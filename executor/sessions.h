/**
 * What: which sessions of this executor carry its rights, noted in the database for the executor
 *   that has to end what is left of it.
 * Invariants: a session is noted before it takes a lock or runs a task.
 * Threads: session_note by the thread of the session; sessions_note by control.
 * Ownership: borrows.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_SESSIONS_H
#define EXECUTOR_SESSIONS_H

#include "base/err.h"

struct db;
struct executor;

/** The session of db. kind: control, gate or reader. */
MUST_CHECK enum rc session_note(struct db *db, int executor_no, const char *kind, struct err *err);
/** Those of readers that have new ones: they open them by themselves. */
MUST_CHECK enum rc sessions_note(struct executor *ex, struct err *err);

#endif
