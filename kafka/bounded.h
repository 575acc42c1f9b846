/**
 * What: runs a call of librdkafka that may not return (2.0.2 has some) without hanging with it.
 *   Internal to this folder.
 * Invariants: argument is touched by one side at a time: by the job while it runs; by the caller
 *   after true; by leave after false.
 * Threads: any; the job runs on a thread of its own.
 * Ownership: borrows argument; after false it belongs to the job, which gives it to leave. end
 *   takes the job that start returns.
 * Failure: without a thread the job runs on the caller's.
 */
#ifndef KAFKA_BOUNDED_H
#define KAFKA_BOUNDED_H

#include <stdbool.h>

/**
 * True: job(argument) has ended within timeout_ms. False: it is left behind, and leave(argument)
 * follows if it ever ends.
 */
bool kafka_bounded(void (*job)(void *argument), void (*leave)(void *argument), void *argument,
                   int timeout_ms);

/** The same in steps: begun, */
struct kafka_bounded *kafka_bounded_start(void (*job)(void *argument),
                                          void (*leave)(void *argument), void *argument,
                                          int timeout_ms);
/** asked without waiting: the job has ended or its time is up, so that end does not wait, */
bool kafka_bounded_over(struct kafka_bounded *bounded);
/** and waited for, until timeout_ms after the start. */
bool kafka_bounded_end(struct kafka_bounded *bounded);

#endif
