/* How every thread of an executor is started, given orders and stopped. The order to stop is a mail
 * in the struct itself, so that a stop cannot fail for want of memory; it comes behind the orders
 * that were sent before it. thread_take() removes it from the list and reports it apart, so no
 * thread mistakes it for an order. */
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

/* Frees the orders that were not taken: their senders have given them away. */
static void clear(struct thread *thread)
{
    for (struct mail *mail = mailbox_take(&thread->inbox), *next; mail != NULL; mail = next) {
        next = mail->next;
        if (mail != &thread->stop)
            free(mail);
    }
    mailbox_done(&thread->inbox);
}

enum rc thread_start(struct thread *thread, const char *what, void *(*main)(void *), void *context,
                     struct err *err)
{
    mailbox_init(&thread->inbox);
    thread->stop = (struct mail){0};
    int failed = pthread_create(&thread->id, NULL, main, context);
    if (failed == 0)
        return RC_OK;
    clear(thread);
    return err_set(err, RC_FATAL, ERR_INTERNAL, what,
                   "Raise the limit of processes (ulimit -u), or lower --readers.",
                   "cannot start a thread: %s", strerror(failed));
}

void thread_send(struct thread *thread, struct mail *order)
{
    mailbox_put(&thread->inbox, order);
}

struct mail *thread_take(struct thread *thread, bool *ret_stop)
{
    struct mail *first = mailbox_take(&thread->inbox);
    for (struct mail **at = &first; *at != NULL; at = &(*at)->next)
        if (*at == &thread->stop) {
            if (ret_stop != NULL)
                *ret_stop = true;
            *at = (*at)->next;
            return first;
        }
    return first;
}

bool thread_has_mail(struct thread *thread)
{
    return mailbox_waiting(&thread->inbox);
}

void thread_ask_stop(struct thread *thread)
{
    mailbox_put(&thread->inbox, &thread->stop);
}

void thread_join(struct thread *thread)
{
    (void)pthread_join(thread->id, NULL);
    /* The thread has ended, so no lock is needed against it; a sender that comes later than this is
     * a mistake of the owner. */
    clear(thread);
}

void thread_stop(struct thread *thread)
{
    thread_ask_stop(thread);
    thread_join(thread);
}
