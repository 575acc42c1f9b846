/**
 * What: the life of an incarnation: its row, its exclusive lock and its heartbeat, on a session
 *   of their own that carries no claims.
 * Invariants: the number and the id are fresh for every incarnation. The heartbeat is a counter;
 *   no clock is compared with a clock of another machine.
 * Threads: one of its own; alive_busy, alive_stir, alive_end, alive_trouble, alive_topic_trouble
 *   and alive_signalled may be called by control at any time, alive_stand_by by the dispatcher.
 * Ownership: alive_start gives, alive_stop takes.
 * Failure: the session is lost, or no heartbeat was confirmed for T1: control gets MAIL_ALIVE and
 *   must end the incarnation; should it wait for an answer of the server, its session is cut.
 */
#ifndef EXECUTOR_ALIVE_H
#define EXECUTOR_ALIVE_H

#include "executor/executor.h"
#include "executor/lane.h"

/** T1: without a confirmed heartbeat for so long an executor ends its own incarnation; half of T2,
 * after which others end it. */
static inline int alive_t1_ms(const struct executor_options *options)
{
    return options->frozen_after_ms / 2;
}

struct alive;

enum alive_event { ALIVE_LOST, ALIVE_OTHERS_DIED, ALIVE_DISPATCH_FREE };

struct alive_mail {
    struct mail mail;
    enum alive_event event;
    struct err err;
};

/** Registers the incarnation: fills ex->incarnation.id and ex->incarnation.executor_no. */
MUST_CHECK enum rc alive_start(struct executor *ex, struct alive **ret_alive, struct err *err);
/** Of the liveness session; stays the same, and open, until alive_stop. */
int alive_socket(const struct alive *alive);
/** Work is owned: beat more often. */
void alive_busy(struct alive *alive, bool busy);
/** Something happened on a queue: other executors may be at work now, and may die, so the heartbeat
 * checks them soon. */
void alive_stir(struct alive *alive);
/** The dispatcher of jobs waits for its lock: the heartbeat asks whether it is free, every two
 * seconds at least; then control gets ALIVE_DISPATCH_FREE. */
void alive_stand_by(struct alive *alive, bool stands_by);
/** Where the topic of the queue at this place of the options ends; -1: not known. The next
 * heartbeat reports it. */
void alive_end(struct alive *alive, int queue, int64_t end);
/* By rank: of several causes the heartbeat reports the first one. ALIVE_READERS does not keep the
 * executor from work, so it is the last one. */
enum alive_cause { ALIVE_LOGIN, ALIVE_KAFKA, ALIVE_WRITES, ALIVE_READERS, ALIVE_CAUSES };
/** Why no reader can log in, Kafka cannot be reached, the trouble of a queue cannot be written into
 * its own row (trouble.c), or some readers cannot log in; NULL: they can, it can. Shown to
 * operators with the next heartbeat, which comes at once when this changes. */
void alive_trouble(struct alive *alive, enum alive_cause cause, const char *trouble);
/** Why the topic of the queue at this place of the options cannot be read, "": it can. Shown as
 * above, for that queue alone. */
void alive_topic_trouble(struct alive *alive, int queue, const char *trouble);
enum alive_signal { ALIVE_FREE, ALIVE_HELD, ALIVE_DRAINING };
/** What signals have asked of this executor. Shown to operators with the next heartbeat, which
 * comes at once when this changes. */
void alive_signalled(struct alive *alive, enum alive_signal signal);
/** Whether the session is lost, and why: that is the cause of every other error then. */
bool alive_lost(struct alive *alive, struct err *ret_why);
/** Ends the incarnation in the database, too, if it can. why: "drained" or "lost"; error: the error
 * that ended it, NULL: none did. */
void alive_stop(struct alive *alive, const char *why, const char *error);

#endif
