/**
 * What: the monitor of jobs as a daemon: a thread that looks at all jobs again and again, and one
 *   for each receiver of alerts.
 * Invariants: only the database knows which alerts are open and which notices are sent
 *   (sql/functions/alert/), so any number of monitors may run: they share the looks and send each
 *   notice once.
 * Threads: monitor_start and monitor_stop from the thread that owns it. Its own threads have the
 *   rest.
 * Ownership: borrows everything that it is given; monitor_stop frees it.
 * Failure: as scheduler/delivery.h: a session that is lost is logged once and opened again.
 */
#ifndef SCHEDULER_MONITOR_H
#define SCHEDULER_MONITOR_H

#include "db/db.h"
#include "scheduler/receiver.h"

struct monitor;

struct monitor_options {
    const char *conninfo, *host;
    const char *who;                /* as which looks and notices name it */
    const struct db_server *server; /* it is not for an older one; read at the start */
    int every_ms;
    const struct receiver *receivers;
    int receiver_count;
    const struct action_settings *settings;
};

/** Behind action_start. */
MUST_CHECK enum rc monitor_start(const struct monitor_options *options,
                                 struct monitor **ret_monitor, struct err *err);

/** Attempts that are made are ended; they are made again by another monitor, or later. NULL is
 * fine. */
void monitor_stop(struct monitor *monitor);

#endif
