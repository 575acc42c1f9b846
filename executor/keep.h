/**
 * What: sends the rule of retention of a queue, as its row has it, to the thread of retention
 *   (scheduler/retention.h).
 * Invariants: the thread is started when a queue has a rule for the first time. On a server that
 *   is not the queue's, everything is kept.
 * Threads: control.
 * Ownership: the executor stops the thread.
 * Failure: a thread that cannot be started is logged; everything is kept.
 */
#ifndef EXECUTOR_KEEP_H
#define EXECUTOR_KEEP_H

struct lane;

/** Sends the rule if it has changed. The lane must be known to be on its own server. */
void keep_send(struct lane *lane);

#endif
