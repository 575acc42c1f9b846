/**
 * What: how many tasks to have in hand, from how long they take. Claims and adoption go by it.
 * Invariants: a long task never has another one behind it.
 * Threads: control.
 * Ownership: -
 * Failure: -
 */
#ifndef EXECUTOR_MEASURE_H
#define EXECUTOR_MEASURE_H

struct lane;

/* lane_depth: tasks assigned to one reader at a time. lane_enough: tasks in hand, those that may
 * start and those that run. lane_worth: so many of them, at least one, have to be missing before a
 * claim is worth its round trip. */
#define CLAIM_MOST 256
int lane_depth(const struct lane *lane);
int lane_enough(const struct lane *lane);
int lane_worth(const struct lane *lane);

#endif
