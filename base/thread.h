/**
 * What: a thread with a mailbox for its orders: started, given orders, stopped and cleared up in
 *   one way. Two kinds of threads are not for it. Several that share one queue have no inbox of
 *   their own: base/crew.h. A thread that exists for one call, and may be left behind when the call
 *   takes too long, takes no orders and is not joined: kafka/bounded.c, db/cancel.c.
 * Invariants: the thread ends soon after thread_take has reported the stop, which comes after all
 *   earlier orders. Orders begin with a struct mail and are from malloc: the thread that takes an
 *   order owns it, and orders that were not taken are freed at the end.
 * Threads: thread_send and thread_ask_stop from any; thread_take and waiting on the inbox from the
 *   thread itself; the rest from the one that owns the struct.
 * Ownership: the struct is embedded in its owner's, and does not move once it is started.
 * Failure: only a start can fail, and it leaves nothing behind then.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/err.h"
#include "base/mailbox.h"

struct thread {
    pthread_t id;
    struct mailbox inbox;
    struct mail stop;
};

/** Runs main(context). what: the thread's name in the error. RC_FATAL: the system has no thread
 * left. The inbox is there from now on. */
MUST_CHECK enum rc thread_start(struct thread *thread, const char *what, void *(*main)(void *),
                                void *context, struct err *err);

/** Puts an order into the inbox. */
void thread_send(struct thread *thread, struct mail *order);

/** By the thread itself: all orders, oldest first, linked by next; NULL if none. *ret_stop becomes
 * true when it is to stop; NULL: its owner says so in another way, sooner. */
struct mail *thread_take(struct thread *thread, bool *ret_stop);

/** By the thread itself, in the middle of its work: there are orders that it has not taken. */
bool thread_has_mail(struct thread *thread);

/** Orders the thread to stop, once, and waits for nothing. */
void thread_ask_stop(struct thread *thread);

/** Waits until the thread has ended; then what is left in its inbox is freed. */
void thread_join(struct thread *thread);

/** thread_ask_stop and thread_join. */
void thread_stop(struct thread *thread);

#endif
