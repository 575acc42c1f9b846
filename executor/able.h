/**
 * What: leaves tasks that this executor's configuration does not allow to other executors, which
 *   may know the command or call the host.
 * Invariants: the task's row has the list of its needs, and adoption compares the list with each
 *   configuration, so that the task does not return to this executor.
 * Threads: control.
 * Ownership: frees the works.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_ABLE_H
#define EXECUTOR_ABLE_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

struct lane;
struct work;
struct works;

/** What tasks need that are to be left: started, added need by need (has: this executor has it),
 * and sent with the works, which are empty then. */
struct needs {
    struct str tasks, tokens, needs, lacks; /* array parameters */
};
#define NEEDS_AUTO __attribute__((cleanup(needs_done))) struct needs
void needs_start(struct needs *needs);
void needs_add(struct needs *needs, const struct work *work, const char *need, bool has);
MUST_CHECK enum rc needs_send(struct lane *lane, struct needs *needs, struct works *works,
                              struct err *err);
void needs_done(struct needs *needs);

/** Returns what the configuration does not let this executor do. */
MUST_CHECK enum rc leave_unable(struct lane *lane, struct err *err);

#endif
