/**
 * What: reports rows in the outbox of the queues to the relay's thread.
 * Invariants: the thread is started when there is a row for the first time.
 * Threads: control.
 * Ownership: the executor stops it.
 * Failure: a thread that cannot be started is logged; the rows wait.
 */
#ifndef EXECUTOR_LETTERS_H
#define EXECUTOR_LETTERS_H

#include "base/err.h"
#include "relay/relay.h"

struct lane;

void letters_wake(struct lane *lane, enum relay_word word);
MUST_CHECK enum rc letters_check(struct lane *lane, struct err *err);

#endif
