/* From a queue's row to the thread of retention (scheduler/retention.c), which is started with the
 * first rule. Nothing of a queue is deleted on a foreign server: there its rows may be the only
 * copy. */
#include "executor/keep.h"

#include "executor/executor.h"
#include "executor/lane.h"

#include "base/log.h"
#include "db/db.h"
#include "scheduler/retention.h"

#include <stdio.h>
#include <string.h>

void keep_send(struct lane *lane)
{
    struct executor *ex = lane->ex;
    const char *keep = lane->queue.foreign ? "" : lane->queue.keep;
    struct err err = {0};
    if (strcmp(lane->queue.keep_sent, keep) == 0)
        return;
    if (ex->services.retention == NULL &&
        retention_start(ex->options->conninfo, db_server(ex->control.db),
                        ex->options->sweep_interval_ms, &ex->services.retention, &err) != RC_OK) {
        log_err(LOG_WARN, "retention_not_started", lane->queue.name, &err); /* everything is kept */
        return;
    }
    queue_set_keep_sent(&lane->queue, keep);
    retention_queue(ex->services.retention, lane->queue.id, lane->queue.name, *keep == '\0');
}
