/**
 * What: what the configuration of this executor does not let it do is left to others, who may know
 *   the command or call the host.
 * Invariants: the database remembers what is needed and who lacks it, so that it does not come
 *   back.
 * Threads: control.
 * Ownership: frees the works.
 * Failure: as db.h.
 */
#ifndef EXECUTOR_ABLE_H
#define EXECUTOR_ABLE_H

#include "base/err.h"
#include <stdbool.h>

struct executor;
struct lane;
struct work;

/** What tasks need that are to be left: started, added need by need (has: this executor has it),
 * and sent with the works, by work->next. */
void needs_start(struct executor *ex);
void needs_add(struct executor *ex, const struct work *work, const char *need, bool has);
MUST_CHECK enum rc needs_send(struct lane *lane, struct work *works, struct err *err);

/** Returns what the configuration does not let this executor do. */
MUST_CHECK enum rc leave_unable(struct lane *lane, struct err *err);

#endif
