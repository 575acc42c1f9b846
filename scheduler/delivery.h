/**
 * What: sends the alerts of one receiver: a thread with a session of its own, which claims a
 *   notice, runs the command or calls the URL, and records what became of it.
 * Invariants: at least once: a notice is claimed for as long as an attempt may take, so several
 *   monitors do not send it side by side, and one that died is followed by another. Nothing is sent
 *   within a transaction. One notice at a time.
 * Threads: all functions from the thread that owns it. Its own thread has the rest.
 * Ownership: borrows everything that it is given; delivery_stop frees it.
 * Failure: never its owner's: a session that is lost is logged once and opened again with growing
 *   pauses; an attempt that fails is tried again (sql/functions/alert/notice_sent.sql).
 */
#ifndef SCHEDULER_DELIVERY_H
#define SCHEDULER_DELIVERY_H

#include "db/db.h"
#include "scheduler/receiver.h"

struct delivery;

/** who: as which the notices name it. */
MUST_CHECK enum rc delivery_start(const struct receiver *receiver,
                                  const struct action_settings *settings, const char *conninfo,
                                  const struct db_server *server, const char *who,
                                  struct delivery **ret_delivery, struct err *err);

/** Alerts may have been opened or closed. */
void delivery_news(struct delivery *delivery);

/** Ends the attempt that is made, and waits for nothing. Twice and NULL are fine. */
void delivery_ask_stop(struct delivery *delivery);

/** delivery_ask_stop, and waits for the end. NULL is fine. */
void delivery_stop(struct delivery *delivery);

#endif
