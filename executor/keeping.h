/**
 * What: what a queue keeps, as its row says, goes to the thread of retention
 *   (scheduler/retention.h).
 * Invariants: the thread is started when a queue keeps not everything for the first time. On a
 *   server that the queue does not know everything is kept.
 * Threads: control.
 * Ownership: the executor stops the thread.
 * Failure: a thread that cannot be started is logged; everything is kept.
 */
#ifndef EXECUTOR_KEEPING_H
#define EXECUTOR_KEEPING_H

struct lane;

/** Tells retention, if it has changed. Once the lane is known to be on its own server. */
void keeping_send(struct lane *lane);

#endif
