/**
 * What: a queue of messages between threads, with a file descriptor to poll(2) on. Threads share
 *   queues, not structs.
 * Invariants: messages come out in the order they were put in. A message belongs to the mailbox
 *   until a thread takes it, and then to that thread.
 * Threads: mailbox_put and mailbox_put_all from any; the rest from the one thread that owns the
 *   mailbox.
 * Ownership: struct mail is embedded at the front of a message; the mailbox never frees it.
 * Failure: none; a mailbox that cannot be made ends the process, as memory does.
 */
#ifndef BASE_MAILBOX_H
#define BASE_MAILBOX_H

#include <pthread.h>
#include <stdbool.h>

struct mail {
    struct mail *next;
    int kind; /* the receiver's enum */
};

struct mailbox {
    pthread_mutex_t lock;
    struct mail *first, **last;
    int fd; /* eventfd: readable while something may be in it */
};

void mailbox_init(struct mailbox *box);
void mailbox_done(struct mailbox *box);
void mailbox_put(struct mailbox *box, struct mail *mail);

/** Several at once, linked by next: the owner is woken once, and takes them together. NULL:
 * nothing. */
void mailbox_put_all(struct mailbox *box, struct mail *mails);

/** Wakes its owner with nothing in it. */
void mailbox_poke(struct mailbox *box);

/** All that is in it, oldest first, linked by next; NULL if nothing. Makes the descriptor
 * unreadable. */
struct mail *mailbox_take(struct mailbox *box);

/** Puts some of the taken mails back, linked by next, in front of newer mails; NULL: nothing. */
void mailbox_put_back(struct mailbox *box, struct mail *mails);

/** Whether something is in it. */
bool mailbox_waiting(struct mailbox *box);

/** Waits until something is in it, at most timeout_ms (-1: no limit). */
void mailbox_wait(struct mailbox *box, int timeout_ms);

#endif
