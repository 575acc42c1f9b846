/**
 * What: the nine statuses of a task, what they mean, and which may follow which, told once more so
 *   that the tables of the schema can be compared with it. docs/reference/states.md draws it.
 * Invariants: the same as lockstep.task_status, lockstep.status_transition and the guard on
 *   lockstep.task (sql/migrations/0001_baseline.sql); tests/db/status_test.c
 *   compares them all.
 * Threads: any; constant tables.
 * Ownership: names and reasons are static.
 * Failure: a name that is none is told by a boolean; nothing else can fail.
 */
#ifndef TESTS_SUPPORT_STATUS_H
#define TESTS_SUPPORT_STATUS_H

#include <stdbool.h>

/* X(constant, name, processable: may be started now or when due, finished: counts as done for the
 *   phase, editable: an operator may change what it is about to do, description). In the order of
 *   the type lockstep.status. */
#define TASK_STATUSES(X)                                                                           \
    X(TASK_PENDING, "Pending", true, false, true, "claimed, not started")                          \
    X(TASK_PROCESSING, "Processing", false, false, false, "an attempt is running")                 \
    X(TASK_ERROR, "Error", true, false, true,                                                      \
      "the last attempt failed, another one is due at scheduled_for")                              \
    X(TASK_FAILED, "Failed", false, true, true, "finally failed: no attempt is left")              \
    X(TASK_COMPLETED, "Completed", false, true, false, "done, and its effect is committed")        \
    X(TASK_CANCELLED, "Cancelled", false, true, true,                                              \
      "not run, because of an operator or of a failure before it")                                 \
    X(TASK_PAUSED, "Paused", false, false, true, "held by an operator")                            \
    X(TASK_TERMINATED, "Terminated", false, true, true, "stopped by an operator while it ran")     \
    X(TASK_PARTIALLY_COMPLETED, "PartiallyCompleted", false, true, true,                           \
      "some of its steps are done, the rest is given up")

#define TASK_STATUS_CONSTANT(constant, name, processable, finished, editable, description) constant,
enum task_status { TASK_STATUSES(TASK_STATUS_CONSTANT) TASK_STATUS_COUNT };
#undef TASK_STATUS_CONSTANT

/** As it stands in the database: "Pending". */
const char *task_status_name(enum task_status status);
const char *task_status_description(enum task_status status);
/** false, and *ret_status untouched, when the name is none of the nine. */
bool task_status_parse(const char *name, enum task_status *ret_status);

bool task_status_is_processable(enum task_status status);
bool task_status_is_finished(enum task_status status);
bool task_status_is_editable(enum task_status status);

/** Why a task may go from one status to the other: a short sentence; NULL when it may not. A status
 * is no transition to itself. */
const char *task_status_transition(enum task_status from, enum task_status to);

#endif
