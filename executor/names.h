/**
 * What: tasks in hand, named to the database by their ids and tokens in scratch[0] and [1] of the
 *   executor.
 * Invariants: between names_start and names_end nothing else uses these two.
 * Threads: control.
 * Ownership: the executor's.
 * Failure: -
 */
#ifndef EXECUTOR_NAMES_H
#define EXECUTOR_NAMES_H

struct executor;
struct work;

void names_start(struct executor *ex);
void names_add(struct executor *ex, const struct work *work);
int names_end(struct executor *ex);                            /* how many */
void names_only(struct executor *ex, const struct work *work); /* the one */

#endif
