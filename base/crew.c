/* Threads that take their work from one queue of their owner's. All signals are blocked while they
 * start, and a thread inherits the mask (pthread_sigmask(3)): so signals reach the thread that
 * expects them. */
#include "base/crew.h"

#include "base/memory.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum rc crew_add(struct crew *crew, const char *what, void *(*main)(void *), void *context,
                 struct err *err)
{
    sigset_t all, before;
    crew->ids = xrealloc(crew->ids, (size_t)crew->count + 1, sizeof *crew->ids);
    (void)sigfillset(&all);
    /* Before pthread_create(): a mask set by the new thread itself would come too late for a signal
     * that arrives at once. */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&crew->ids[crew->count], NULL, main, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0)
        return err_set(err, RC_FATAL, ERR_INTERNAL, what,
                       "Raise the limit of processes (ulimit -u).", "cannot start a thread: %s",
                       strerror(failed));
    crew->count++;
    return RC_OK;
}

void crew_join(struct crew *crew)
{
    for (int i = 0; i < crew->count; i++)
        (void)pthread_join(crew->ids[i], NULL);
    free(crew->ids);
    *crew = (struct crew){0};
}
