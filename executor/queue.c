/* The queue's row, and the settings that operators change while the queue is worked off.
 * queue_read() begins a lane or its stream, queue_reread() follows a notification. */
#include "executor/queue.h"

#include "base/log.h"
#include "base/remedies.h"
#include "db/db.h"

#include <stdio.h>

enum rc queue_row(struct db *db, const struct queue *queue, struct db_result **ret_row,
                  struct err *err)
{
    enum rc rc = db_run(db, &sql_executor_queue, (const char *const[]){queue->name}, ret_row, err);
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_MISSING, queue->name);
    if (rc == RC_NONE)
        return err_set(err, RC_FATAL, ERR_CONFIG, queue->name, hint,
                       queue->id == 0 ? "there is no queue of that name" : "the queue was deleted");
    return rc;
}

/* An operator may change these at any time, so both readings of the row take them. */
static void settings(struct queue *queue, const struct db_result *row)
{
    queue->max_readers = (int)db_int(row, 0, EXECUTOR_QUEUE_MAX_READERS);
    queue->lookahead = (int)db_int(row, 0, EXECUTOR_QUEUE_LOOKAHEAD);
    queue->paused = db_bool(row, 0, EXECUTOR_QUEUE_PAUSED);
    queue->halted = !db_null(row, 0, EXECUTOR_QUEUE_HALTED_REASON);
    (void)snprintf(queue->keep, sizeof queue->keep, "%s", db_text(row, 0, EXECUTOR_QUEUE_KEEPS));
}

static void log_halted(const struct queue *queue, const struct db_result *row)
{
    log_event(LOG_ERROR, "queue_halted", "queue", queue->name, "reason",
              db_text(row, 0, EXECUTOR_QUEUE_HALTED_REASON), "detail",
              db_text(row, 0, EXECUTOR_QUEUE_HALTED_DETAIL), NULL);
}

/* halt_no is taken here only: a finding counts under the number that was in the row when the stream
 * began. */
enum rc queue_read(struct db *db, struct queue *queue, struct db_result **ret_row, struct err *err)
{
    enum rc rc = queue_row(db, queue, ret_row, err);
    if (rc != RC_OK)
        return rc;
    const struct db_result *row = *ret_row;
    queue->id = (int)db_int(row, 0, EXECUTOR_QUEUE_QUEUE_ID);
    (void)snprintf(queue->topic, sizeof queue->topic, "%s", db_text(row, 0, EXECUTOR_QUEUE_TOPIC));
    queue->partition = (int)db_int(row, 0, EXECUTOR_QUEUE_PARTITION);
    settings(queue, row);
    queue->halt_no = (int)db_int(row, 0, EXECUTOR_QUEUE_HALT_NO);
    if (queue->halted)
        log_halted(queue, row);
    return RC_OK;
}

/* The cursor of the row is not taken over here: the buffer and the stream move by claims, and an
 * assignment is the only other way to move them. */
enum rc queue_reread(struct db *db, struct queue *queue, bool *ret_decided, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = queue_row(db, queue, &row, err);
    if (rc != RC_OK)
        return rc;
    bool was_halted = queue->halted;
    settings(queue, row);
    if (queue->halted && !was_halted)
        log_halted(queue, row);
    *ret_decided = db_int(row, 0, EXECUTOR_QUEUE_HALT_NO) != queue->halt_no;
    return RC_OK;
}

void queue_set_halted(struct queue *queue)
{
    queue->halted = true;
}

void queue_set_gone(struct queue *queue)
{
    queue->gone = true;
}

void queue_set_foreign(struct queue *queue, bool foreign)
{
    queue->foreign = foreign;
}

void queue_set_stale(struct queue *queue, bool stale)
{
    queue->stale = stale;
}

void queue_set_keep_sent(struct queue *queue, const char *keep)
{
    (void)snprintf(queue->keep_sent, sizeof queue->keep_sent, "%s", keep);
}
