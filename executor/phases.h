/**
 * What: the phases that a lane has in hand, oldest first: each has tasks of this executor that are
 *   not done, or a lock that it has not released.
 * Invariants: the log is claimed in its order and each new phase gets a greater id, so the order of
 *   the phases is the order of their ids.
 * Threads: control.
 * Ownership: the lane owns them.
 * Failure: -
 */
#ifndef EXECUTOR_PHASES_H
#define EXECUTOR_PHASES_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct executor;
struct lane;
struct phase;

struct phase *phase_find(struct lane *lane, int64_t phase_id);
struct phase *phase_get(struct lane *lane, int64_t phase_id, int64_t run_no, int64_t order);
/** The id of its run as commands take it, for log lines: asked of the database where no message has
 * named it; "" if it does not say. */
const char *phase_run_id(struct lane *lane, const struct phase *phase, char buffer[37]);
/* The database has said whether it is open. */
void phase_seen(struct lane *lane, struct phase *phase, bool open, int64_t definitions);
/* It is not in the list any more, and the caller's; or is put back. */
void phases_unlink(struct lane *lane, struct phase *phase);
void phases_link(struct lane *lane, struct phase *phase);
/* All of them, with what waits. */
void phases_drop(struct lane *lane);
/* Tasks in hand may have been cancelled: to be asked for before any starts. */
void phases_doubt(struct lane *lane);
void phases_settle(struct lane *lane); /* it was asked */
/* This executor may be unable to do tasks in hand: to be judged before any starts. */
void phases_unjudge(struct lane *lane);
void phases_judged(struct lane *lane);
/* Of any lane, and not only to be opened by us: what nobody owns is asked for
 * (executor_unfinished). */
bool phases_owned(const struct executor *ex);

#endif
