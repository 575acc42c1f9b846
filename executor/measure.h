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

/* Tasks handed to one reader at a time; tasks that may start, and those that run: so many in hand;
 * and so many of them, at least one, have to be missing before it asks for more. */
#define CLAIM_MOST 256
int lane_depth(const struct lane *lane);
int lane_enough(const struct lane *lane);
int lane_worth(const struct lane *lane);

#endif
