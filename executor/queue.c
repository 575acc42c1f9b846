/* queue: the queue's row, and what of it operators change while the queue is worked off. halt_no is
 * read when the stream is assigned, and not with a change of settings: it is the number under which
 * this executor's findings count. */
#include "executor/queue.h"

#include "executor/lane.h"

#include "base/log.h"
#include "base/remedies.h"

#include <stdio.h>

enum rc lane_row(struct lane *lane, struct db_result **ret_row, struct err *err)
{
    enum rc rc = db_run(lane->ex->control.db, &sql_executor_queue,
                        (const char *const[]){lane->name}, ret_row, err);
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_MISSING, lane->name);
    if (rc == RC_NONE)
        return err_set(err, RC_FATAL, ERR_CONFIG, lane->name, hint,
                       lane->queue.id == 0 ? "there is no queue of that name"
                                           : "the queue was deleted");
    return rc;
}

static void settings(struct lane *lane, const struct db_result *row)
{
    lane->queue.max_readers = (int)db_int(row, 0, EXECUTOR_QUEUE_MAX_READERS);
    lane->queue.lookahead = (int)db_int(row, 0, EXECUTOR_QUEUE_LOOKAHEAD);
    lane->queue.paused = db_bool(row, 0, EXECUTOR_QUEUE_PAUSED);
    lane->queue.halted = !db_null(row, 0, EXECUTOR_QUEUE_HALTED_REASON);
    (void)snprintf(lane->queue.keep, sizeof lane->queue.keep, "%s",
                   db_text(row, 0, EXECUTOR_QUEUE_KEEPS));
}

static void log_halted(const struct lane *lane, const struct db_result *row)
{
    log_event(LOG_ERROR, "queue_halted", "queue", lane->name, "reason",
              db_text(row, 0, EXECUTOR_QUEUE_HALTED_REASON), "detail",
              db_text(row, 0, EXECUTOR_QUEUE_HALTED_DETAIL), NULL);
}

enum rc queue_read(struct lane *lane, struct db_result **ret_row, struct err *err)
{
    enum rc rc = lane_row(lane, ret_row, err);
    if (rc != RC_OK)
        return rc;
    const struct db_result *row = *ret_row;
    lane->queue.id = (int)db_int(row, 0, EXECUTOR_QUEUE_QUEUE_ID);
    (void)snprintf(lane->queue.topic, sizeof lane->queue.topic, "%s",
                   db_text(row, 0, EXECUTOR_QUEUE_TOPIC));
    lane->queue.partition = (int)db_int(row, 0, EXECUTOR_QUEUE_PARTITION);
    stream_read(&lane->stream, row);
    settings(lane, row);
    lane->queue.halt_no = (int)db_int(row, 0, EXECUTOR_QUEUE_HALT_NO);
    if (lane->queue.halted)
        log_halted(lane, row);
    return RC_OK;
}

/* The cursor of the row is not taken over here: the buffer and the stream move by claims, and an
 * assignment is the only other way to move them. */
enum rc queue_reread(struct lane *lane, bool *ret_decided, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = lane_row(lane, &row, err);
    if (rc != RC_OK)
        return rc;
    bool was_halted = lane->queue.halted;
    settings(lane, row);
    if (lane->queue.halted && !was_halted)
        log_halted(lane, row);
    *ret_decided = db_int(row, 0, EXECUTOR_QUEUE_HALT_NO) != lane->queue.halt_no;
    return RC_OK;
}

void lane_halted(struct lane *lane)
{
    lane->queue.halted = true;
}
