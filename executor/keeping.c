/* From a queue's row to the thread of retention. Nothing of a queue is deleted on a foreign server:
 * there its rows may be the only copy. */
#include "executor/keeping.h"

#include "executor/lane.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

void keeping_tell(struct lane *lane)
{
    struct executor *ex = lane->ex;
    const char *keeps = lane->foreign ? "" : lane->queue.keep;
    struct err err = {0};
    if (strcmp(lane->keeps, keeps) == 0)
        return;
    if (ex->services.retention == NULL &&
        retention_start(ex->options->conninfo, db_server(ex->control.db),
                        ex->options->sweep_interval_ms, &ex->services.retention, &err) != RC_OK) {
        log_err(LOG_WARN, "retention_not_started", lane->name, &err); /* everything is kept */
        return;
    }
    (void)snprintf(lane->keeps, sizeof lane->keeps, "%s", keeps);
    retention_queue(ex->services.retention, lane->queue.id, lane->name, *keeps == '\0');
}
