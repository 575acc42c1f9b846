/**
 * What: how long the tasks of a lane take. measure.c decides from it how many tasks to have in
 *   hand.
 * Invariants: only pace.c writes the fields.
 * Threads: control.
 * Ownership: embedded in the lane.
 * Failure: -
 */
#ifndef EXECUTOR_PACE_H
#define EXECUTOR_PACE_H

#include <stdint.h>

struct pace {
    double task_us; /* moving average, quick to rise; 0: not known */
};

/** A task ran for so long. */
void pace_learn(struct pace *pace, int64_t ran_us);
/** How many tasks are work_us of work, and the round trip of a claim; 0: not known. */
double pace_ahead(const struct pace *pace, int64_t round_us, double work_us);

#endif
