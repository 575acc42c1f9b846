/**
 * What: deletes the tasks of ended runs that their queue does not keep any more, in small batches,
 *   on a thread and a session of its own: once when a queue is named, then every interval.
 * Invariants: the database decides which rows may go, batch by batch (sql/functions/sweep/); one
 *   sweeper at a time per queue, in any executor. A batch has at most 1000 rows and aims at 20 ms;
 *   between two of them it rests for four times as long, and for a second when claims are slow.
 *   Nothing it does is waited for, or waits.
 * Threads: retention_start, _queue, _claimed, _stop from the thread that owns it. Its own thread
 *   has the rest.
 * Ownership: borrows the connection string; retention_stop frees it.
 * Failure: never the executor's: logged once, tried again at the next interval.
 */
#ifndef SCHEDULER_RETENTION_H
#define SCHEDULER_RETENTION_H

#include "base/err.h"
#include "db/db.h"
#include <stdbool.h>
#include <stdint.h>

struct retention;

/** The thread, idle. server: nothing is deleted on another one. */
MUST_CHECK enum rc retention_start(const char *conninfo, const struct db_server *server,
                                   int interval_ms, struct retention **ret_retention,
                                   struct err *err);

/** This queue keeps not everything (or does again): it is swept from now on. */
void retention_queue(struct retention *retention, int queue_id, const char *name, bool keeps_all);

/** How long a claim took. NULL is fine. */
void retention_claimed(struct retention *retention, int64_t took_us);

/** After the batch in hand. NULL is fine. */
void retention_stop(struct retention *retention);

#endif
