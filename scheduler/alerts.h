/**
 * What: one look of the monitor at all jobs, which opens and closes alerts.
 * Invariants: the database decides, in one statement, and lets one of several monitors look
 *   (sql/functions/alert/monitor_look.sql).
 * Threads: that of the session.
 * Ownership: borrows.
 * Failure: as db_run.
 */
#ifndef SCHEDULER_ALERTS_H
#define SCHEDULER_ALERTS_H

#include "base/err.h"
#include "db/db.h"

/** who: the name of the monitor, which looks every every_ms. Findings are logged. */
MUST_CHECK enum rc alerts_update(struct db *db, const char *who, int every_ms, struct err *err);

#endif
