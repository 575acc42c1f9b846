/**
 * What: the phases that a lane has in hand, oldest first: each has tasks of this executor that are
 *   not done, or a lock that it has not released.
 * Invariants: the log is claimed in its order and each new phase gets a greater id, so the order of
 *   the phases is the order of their ids. Only phases.c writes the fields.
 * Threads: control.
 * Ownership: embedded in the lane; owns the phases.
 * Failure: -
 */
#ifndef EXECUTOR_PHASES_H
#define EXECUTOR_PHASES_H

#include <stdbool.h>
#include <stdint.h>

struct phase;
struct work;

struct phases {
    struct phase *first;          /* the oldest */
    int64_t arrivals;             /* how many tasks have arrived */
    int64_t last_run, last_order; /* the phase of which a task returned last */
    bool doubtful; /* tasks in hand may have been cancelled: to be asked for before any starts */
    bool
        unjudged; /* this executor may be unable to do tasks in hand: to be judged before any starts
                    */
};

struct phase *phases_find(const struct phases *phases, int64_t phase_id);
/** Finds it, or makes it. */
struct phase *phases_get(struct phases *phases, int64_t phase_id, int64_t run_no, int64_t order);
/** It is not in the list any more, and the caller's; or is put back. */
void phases_unlink(struct phases *phases, struct phase *phase);
void phases_link(struct phases *phases, struct phase *phase);
/** A work arrives and waits in its phase; a work of a phase returned from its reader. */
void phases_add(struct phases *phases, struct phase *phase, struct work *work, int64_t now_us);
void phases_returned(struct phases *phases, const struct phase *phase);
/** All of them, with the tasks that wait. */
void phases_drop(struct phases *phases);
void phases_doubt(struct phases *phases, bool doubtful);
void phases_unjudge(struct phases *phases, bool unjudged);
/** Tasks: those that may start and wait for a reader, and those that readers have. */
int phases_startable(const struct phases *phases);
int phases_running(const struct phases *phases);
/** The phase that follows the one that worked here last is waited for, and has tasks in our
 * hands. */
bool phases_next_is_ours(const struct phases *phases);

#endif
