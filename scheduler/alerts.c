/* One statement decides and this file logs its outcome. scheduler/house.c (in a dispatcher) and
 * scheduler/monitor.c (in `monitor run`) call it: either alone keeps the incidents current. */
#include "scheduler/alerts.h"

#include "base/log.h"

enum rc alerts_update(struct db *db, const char *who, int every_ms, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc =
        db_run(db, &sql_monitor_look, (const char *const[]){who, DB_INT(every_ms)}, &row, err);
    /* Another monitor has just looked; its own log has the events. */
    if (rc != RC_OK || !db_bool(row, 0, MONITOR_LOOK_LOOKED))
        return rc;
    if (!db_null(row, 0, MONITOR_LOOK_ABSENCE))
        log_event(LOG_WARN, "monitor_absent", "detail", db_text(row, 0, MONITOR_LOOK_ABSENCE),
                  NULL);
    if (!db_null(row, 0, MONITOR_LOOK_HELD))
        log_event(LOG_WARN, "alert_row_held", "reason", db_text(row, 0, MONITOR_LOOK_HELD), NULL);
    if (db_int(row, 0, MONITOR_LOOK_OPENED) > 0)
        log_event(LOG_WARN, "alerts_opened", "alerts", db_text(row, 0, MONITOR_LOOK_OPENED), NULL);
    if (db_int(row, 0, MONITOR_LOOK_CLOSED) > 0)
        log_event(LOG_INFO, "alerts_closed", "alerts", db_text(row, 0, MONITOR_LOOK_CLOSED), NULL);
    return RC_OK;
}
