/* A list with a lock, and an eventfd that makes it usable in poll(). Only the first mail of an
 * empty box writes to the descriptor, because each write is a system call; mailbox_take() reads it
 * before it takes the list, and the order of the two keeps a wake-up from being lost
 * (tests/unit/mailbox_test.c): a sender that finds a list that is not empty relies on the write of
 * an earlier sender. */
#include "base/mailbox.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

void mailbox_init(struct mailbox *box)
{
    (void)pthread_mutex_init(&box->lock, NULL);
    box->first = NULL;
    box->last = &box->first;
    box->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (box->fd < 0) {
        perror("lockstep: eventfd");
        abort();
    }
}

void mailbox_done(struct mailbox *box)
{
    (void)close(box->fd);
    (void)pthread_mutex_destroy(&box->lock);
}

void mailbox_put(struct mailbox *box, struct mail *mail)
{
    mail->next = NULL;
    mailbox_put_all(box, mail);
}

static struct mail **end_of(struct mail *mails)
{
    while (mails->next != NULL)
        mails = mails->next;
    return &mails->next;
}

void mailbox_put_all(struct mailbox *box, struct mail *mails)
{
    if (mails == NULL)
        return;
    /* Outside the lock: only the sender has the list yet. */
    struct mail **last = end_of(mails);
    (void)pthread_mutex_lock(&box->lock);
    /* Known only under the lock; the write itself is outside, so that the woken thread does not
     * wait for it. */
    bool was_empty = box->first == NULL;
    *box->last = mails;
    box->last = last;
    (void)pthread_mutex_unlock(&box->lock);
    if (was_empty)
        mailbox_poke(box);
}

void mailbox_poke(struct mailbox *box)
{
    uint64_t one = 1;
    ssize_t ignored = write(box->fd, &one, sizeof one);
    (void)ignored;
}

struct mail *mailbox_take(struct mailbox *box)
{
    uint64_t count;
    /* Before the list is taken: a mail that arrives between the two leaves the descriptor readable,
     * at worst for nothing. In the other order the read could swallow the wake-up of a mail that
     * stays in the box. */
    ssize_t ignored = read(box->fd, &count, sizeof count);
    (void)ignored;
    (void)pthread_mutex_lock(&box->lock);
    struct mail *first = box->first;
    box->first = NULL;
    box->last = &box->first;
    (void)pthread_mutex_unlock(&box->lock);
    return first;
}

/* In front of newer mails, so that the mails of one sender keep their order. */
void mailbox_put_back(struct mailbox *box, struct mail *mails)
{
    if (mails == NULL)
        return;
    struct mail **last = end_of(mails);
    (void)pthread_mutex_lock(&box->lock);
    *last = box->first;
    if (box->first == NULL)
        box->last = last;
    box->first = mails;
    (void)pthread_mutex_unlock(&box->lock);
    mailbox_poke(box);
}

bool mailbox_waiting(struct mailbox *box)
{
    (void)pthread_mutex_lock(&box->lock);
    bool waiting = box->first != NULL;
    (void)pthread_mutex_unlock(&box->lock);
    return waiting;
}

/** Nothing is read: the descriptor stays readable until mailbox_take(). */
void mailbox_wait(struct mailbox *box, int timeout_ms)
{
    struct pollfd fd = {.fd = box->fd, .events = POLLIN};
    (void)poll(&fd, 1, timeout_ms);
}
