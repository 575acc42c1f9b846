/**
 * What: a reader: a thread with its own session that runs one task at a time, several sent
 *   ahead. It makes effect and record one commit (pipelined: the task's statement,
 *   complete(task, token), sync).
 * Invariants: a task is reported back exactly once. Transaction control never reaches the server.
 *   State that a task may have left in the session is discarded before the next one runs.
 * Threads: one per reader; control talks to it by mailbox only.
 * Ownership: work handed over belongs to the reader until it comes back by mail, of the kind that
 *   it had.
 * Failure: a lost session is opened again by the thread itself, after a pause that grows when
 *   that fails; its tasks come back as OUTCOME_LOST.
 */
#ifndef READER_READER_H
#define READER_READER_H

#include "base/mailbox.h"
#include "db/db.h"

struct work;
struct reader_thread;
struct action_shelf;

/** What attempts outside the database need; borrowed. */
struct reader_outside {
    struct action_shelf *actions;
    /* of this executor: as long as a command holds it, no other executor takes it for dead */
    int liveness_socket;
    int silence_ms; /* T1 */
};

MUST_CHECK enum rc reader_start(const char *conninfo, const struct db_server *server,
                                const struct reader_outside *outside, struct mailbox *control,
                                struct reader_thread **ret_reader, struct err *err);
/** Waits for the works that it runs, unless they are cancelled or abandoned first. */
void reader_stop(struct reader_thread *reader);
/** A reader that has this many works gets no more; half of them make a batch. */
#define READER_MOST 64
/** Works, linked by their mail's next; NULL: none. Together, so that they make one batch. */
void reader_assign(struct reader_thread *reader, struct mail *works);
/** It begins no further work, and returns those that have not begun. The one that runs is cancelled
 * by reader_interrupt. */
void reader_cancel(struct reader_thread *reader);
/** Asks the server to cancel work, or cuts its session off; then the work is lost, and its row
 * decides. Nothing, if the reader runs another one by now; but a cancelled reader's session is cut
 * off also while it records an end. A command is asked to end. False: the session was not cut off,
 * so a further request may be needed. */
bool reader_interrupt(struct reader_thread *reader, const struct work *work, bool sever);
/** Cancels it and cuts its session, whether the server answers or not: the incarnation is over. */
void reader_abandon(struct reader_thread *reader);
/** The attempt has run out of its time: cancels its statement, or cuts its session off. False: it
 * is not running. */
bool reader_time_out(struct reader_thread *reader, struct work *work, bool sever);

#endif
