/**
 * What: commits the cursor to a consumer group now and then, for tools that show how far behind a queue is.
 * Invariants: nothing reads it back.
 * Threads: control.
 * Ownership: -
 * Failure: -
 */
#ifndef EXECUTOR_LAG_H
#define EXECUTOR_LAG_H

#include <stdint.h>
struct lane;

void lag_publish(struct lane *lane);
int64_t lag_due_us(const struct lane *lane); /* 0: there is nothing to tell */

#endif
