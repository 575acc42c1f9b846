/**
 * What: conditions of pthread whose waits end by a clock that cannot be set.
 * Invariants: CLOCK_MONOTONIC on both sides: in the condition and in the time until which it is
 *   waited for.
 * Threads: any.
 * Ownership: the condition is the caller's, destroyed with pthread_cond_destroy.
 * Failure: none.
 */
#ifndef BASE_CONDITION_H
#define BASE_CONDITION_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

void condition_init(pthread_cond_t *condition);

/** What pthread_cond_timedwait of such a condition takes to wait timeout_us from now on. */
struct timespec condition_until(int64_t timeout_us);

#endif
