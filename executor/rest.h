/**
 * What: how long a gate rests before it asks again, after each verdict of lockstep.gate.
 * Invariants: a gate does not rest while the lock that it waits for is the wake-up. Only rest.c
 *   writes the fields.
 * Threads: the gate's own.
 * Ownership: embedded in struct gate; {0} at its start.
 * Failure: none.
 */
#ifndef EXECUTOR_REST_H
#define EXECUTOR_REST_H

#include <stdint.h>

struct db_result;

struct rest {
    int orphans_ms; /* the last one before orphans, 0: the last verdict was another one */
    int vain_ms;    /* likewise, after a wait that was none */
};

/** The row is the answer of gate.sql, which took so long. 0: it asks again at once. */
int rest_ms(struct rest *rest, const struct db_result *row, int64_t took_us);

#endif
