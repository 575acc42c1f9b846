/**
 * What: what control does while the server works on a claim: completed works make room, and what
 *   waits goes there.
 * Invariants: all else takes a statement, or may, and waits for the answer.
 * Threads: control.
 * Ownership: -
 * Failure: as db.h.
 */
#ifndef EXECUTOR_BESIDE_H
#define EXECUTOR_BESIDE_H

#include "base/err.h"

struct db_result;
struct executor;
struct sql_statement;

/** As db_run on control. */
MUST_CHECK enum rc run_beside(struct executor *ex, const struct sql_statement *stmt,
                              const char *const *params, struct db_result **ret_result,
                              struct err *err);

#endif
