/**
 * What: control's sleep between two turns: until something happens, or until a part has something
 *   to do.
 * Invariants: each part that waits for a time says so through its due_us; the sleep knows the parts
 *   by one table and no timer by name.
 * Threads: control.
 * Ownership: -
 * Failure: none: a wait that ends too early costs one turn.
 */
#ifndef EXECUTOR_WAIT_H
#define EXECUTOR_WAIT_H

struct executor;

void wait_for_work(struct executor *ex);

#endif
