/**
 * What: threads that take their work from one queue of their owner's, as struct thread
 *   (base/thread.h) is one thread with orders of its own: started and joined in one way.
 * Invariants: the owner has them end, under the lock of its queue, before crew_join. They take no
 *   signals: one that came to them would not wake the main thread from its wait.
 * Threads: all functions from the one that owns the struct.
 * Ownership: the struct is embedded in its owner's; {0} is a crew without threads.
 * Failure: only a start can fail; those that were started before run on.
 */
#ifndef BASE_CREW_H
#define BASE_CREW_H

#include "base/err.h"

#include <pthread.h>

struct crew {
    pthread_t *ids;
    int count;
};

/** One more, which runs main(context). what: the thread's name in the error. RC_FATAL: the system
 * has no thread left. */
MUST_CHECK enum rc crew_add(struct crew *crew, const char *what, void *(*main)(void *),
                            void *context, struct err *err);

/** Waits until all have ended. Twice is fine. */
void crew_join(struct crew *crew);

#endif
