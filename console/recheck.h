/**
 * What: a thread that asks whether the clients of an event stream still may listen: the thread that
 *   sends must not wait for the database.
 * Invariants: each visitor that is asked about comes back once, as a struct rechecked in the
 *   mailbox `answers`, in the order of asking. At the end those that were not asked come back as
 *   ones that may.
 * Threads: recheck_ask and recheck_stop: the one that started it; `may` is called by a thread of
 *   its own.
 * Ownership: an order holds its visitor; the thread that takes a struct rechecked releases that and
 *   frees it.
 * Failure: only a start can fail.
 */
#ifndef CONSOLE_RECHECK_H
#define CONSOLE_RECHECK_H

#include "base/thread.h"

#include <stdbool.h>

struct visitor;

struct rechecked {
    struct mail mail;
    struct visitor *visitor; /* held */
    bool may;
};

struct recheck {
    struct thread thread;
    struct mailbox *answers; /* borrowed: outlives it */
    bool (*may)(void *context, struct visitor *visitor);
    void *context;
    _Atomic bool ending; /* recheck_stop: no further question is asked */
};

/** recheck: with answers, may and context; it does not move from now on. */
MUST_CHECK enum rc recheck_start(struct recheck *recheck, struct err *err);
void recheck_ask(struct recheck *recheck, struct visitor *visitor);
/** Waits for the one question that is under way. */
void recheck_stop(struct recheck *recheck);

#endif
