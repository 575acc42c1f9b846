/**
 * What: the slots of a queue that this executor holds: how many, and when to try to get more
 *   (execute.c takes and returns them).
 * Invariants: an executor that finds too few free ones tries again when a notification reports a
 *   free one, or after a second. Only slots.c writes the fields.
 * Threads: control.
 * Ownership: embedded in struct share.
 * Failure: -
 */
#ifndef EXECUTOR_SLOTS_H
#define EXECUTOR_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct slots {
    int held;
    int64_t after_us;   /* too few were free: not before this, 0: at once */
    int64_t starved_us; /* since when too few were free for work that may start, 0: enough */
    int64_t wanted_us;  /* when another executor was last short of them, 0: never */
};

/** Some were taken, or returned (a negative number). */
void slots_hold(struct slots *slots, int more);
/** A try found too few free, or enough. */
void slots_tried(struct slots *slots, bool enough, int64_t now_us);
/** Something has changed: at once. */
void slots_try_again(struct slots *slots);
/** There is nothing that lacks one. */
void slots_suffice(struct slots *slots);
/** Startable work has lacked a slot for so long that it is returned for other executors; then its
 * time begins again. */
bool slots_starve(struct slots *slots, int64_t now_us);
/** Another executor is short of them. */
void slots_want(struct slots *slots, int64_t now_us);
/** Another executor was, a moment ago. */
bool slots_wanted(const struct slots *slots, int64_t now_us);
/** When to try again, or to return work, 0: not before something happens. */
int64_t slots_due_us(const struct slots *slots, int64_t now_us, bool draining);

#endif
