/**
 * What: how far behind the end of its topic a queue is. The end is reported with the heartbeat and
 *   to the metrics; the cursor is committed to a consumer group now and then, for tools that show
 *   lag.
 * Invariants: nothing that the executor does depends on it; the broker is asked for nothing more.
 *   Once all published records are claimed the end is the cursor: only marks of transactions lie
 *   between the two.
 * Threads: control.
 * Ownership: -
 * Failure: -
 */
#ifndef EXECUTOR_LAG_H
#define EXECUTOR_LAG_H

#include <stdint.h>

struct lane;

struct lag {
    int64_t sent_us, sent; /* when a position was last committed, and which */
    int64_t high;          /* the end of the topic */
};

/** In each turn. */
void lag_publish(struct lane *lane);
int64_t lag_due_us(const struct lane *lane); /* 0: there is nothing to commit */
/** The topic ended there when it was checked. */
void lag_seen(struct lag *lag, int64_t high);

#endif
