/**
 * What: the work of control while the server works on a claim: it records completed works and
 *   assigns waiting ones in their place.
 * Invariants: any other work may need a statement, and so waits for the answer.
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
