/**
 * What: the life of an incarnation: its row, its exclusive lock and its heartbeat, on a session
 *   of their own that carries no claims.
 * Invariants: the number and the id are fresh for every incarnation. The heartbeat is a
 *   counter; nobody compares clocks of different machines.
 * Threads: one of its own; alive_busy may be called by control at any time.
 * Ownership: alive_start gives, alive_stop takes.
 * Failure: the session is lost, or no heartbeat was confirmed for ALIVE_T1_MS: control gets
 *   MAIL_ALIVE and must end the incarnation.
 */
#ifndef EXECUTOR_ALIVE_H
#define EXECUTOR_ALIVE_H

#include "executor/lane.h"

#define ALIVE_T1_MS 5000
#define ALIVE_T2_MS 10000 /* an executor that stands still for so long is fenced */

struct alive;

enum alive_news { ALIVE_LOST, ALIVE_OTHERS_DIED };

struct alive_mail {
    struct mail mail;
    enum alive_news news;
    struct err err;
};

/** Registers the incarnation: fills ex->id and ex->executor_no. */
MUST_CHECK enum rc alive_start(struct executor *ex, struct alive **ret_alive, struct err *err);
/** Work is owned: beat more often. */
void alive_busy(struct alive *alive, bool busy);
/** The backend of its session. */
int alive_pid(const struct alive *alive, const char **ret_start);
/** Ends the incarnation in the database, too, if it can. */
void alive_stop(struct alive *alive, const char *why);

#endif
