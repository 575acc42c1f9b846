/**
 * What: the common part of the commands of operators: run_control.c, task_control.c,
 *   executor_control.c.
 * Invariants: a command calls one function of the database, which is one transaction and says no
 *   with a reason.
 * Threads: the main thread.
 * Ownership: borrows.
 * Failure: ERR_FAILED: it makes no sense now; ERR_USAGE: there is no such thing.
 */
#ifndef CLI_CONTROL_H
#define CLI_CONTROL_H

#include "base/err.h"

/** The rc of a control function's statement; its refusals as users are to see them. */
MUST_CHECK enum rc control_done(enum rc rc, struct err *err);

#endif
