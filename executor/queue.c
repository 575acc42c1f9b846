/* queue: the queue's row, and what of it operators change while the queue is worked off. */
#include "executor/queue.h"

#include "executor/lane.h"

#include "base/remedies.h"

#include <stdio.h>

enum rc lane_row(struct lane *lane, struct db_result **ret_row, struct err *err)
{
    enum rc rc = db_run(lane->ex->control, &sql_executor_queue, (const char *const[]){lane->name},
                        ret_row, err);
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_MISSING, lane->name);
    if (rc == RC_NONE)
        return err_set(err, RC_FATAL, ERR_CONFIG, lane->name, hint,
                       lane->queue_id == 0 ? "there is no queue of that name"
                                           : "the queue was deleted");
    return rc;
}

void lane_settings(struct lane *lane, const struct db_result *row)
{
    lane->max_readers = (int)db_int(row, 0, EXECUTOR_QUEUE_MAX_READERS);
    lane->lookahead = (int)db_int(row, 0, EXECUTOR_QUEUE_LOOKAHEAD);
    lane->paused = db_bool(row, 0, EXECUTOR_QUEUE_PAUSED);
    lane->halted = !db_null(row, 0, EXECUTOR_QUEUE_HALTED_REASON);
    (void)snprintf(lane->keep, sizeof lane->keep, "%s", db_text(row, 0, EXECUTOR_QUEUE_KEEPS));
}

void lane_halted(struct lane *lane)
{
    lane->halted = true;
}
