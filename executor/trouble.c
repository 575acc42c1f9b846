/* trouble: a queue whose own statements fail is set aside for a while, and one that was deleted is
 * left; the executor's other queues continue. That is possible only if the control session can be
 * made clean of the locks that a failed statement may have left (executor/locks.h). Otherwise the
 * incarnation ends, and the next one sets the queue aside. */
#include "executor/trouble.h"

#include "executor/alive.h"
#include "executor/event.h"
#include "executor/executor.h"
#include "executor/lane.h"
#include "executor/lane_open.h"
#include "executor/late.h"
#include "executor/locks.h"
#include "executor/notifications.h"
#include "executor/phase.h"
#include "executor/queue.h"
#include "executor/receive.h"
#include "executor/returning.h"
#include "executor/server.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "db/db.h"
#include "db/sqlstate.h"

#include <stdlib.h>
#include <string.h>

#define TROUBLE_FIRST_MS 1000
#define TROUBLE_LAST_MS  (600 * 1000)
#define LOCKED_LAST_MS   (10 * 1000) /* a transaction of others may end at any time */
#define LACKS_LAST_MS    (60 * 1000) /* a person frees disk space at any time */

static void leave(struct lane *lane)
{
    struct executor *ex = lane->ex;
    log_event(LOG_WARN, "queue_left", "queue", lane->queue.name, "reason",
              lane->queue.id == 0 ? "there is no queue of that name" : "the queue was deleted",
              "hint", "start the executor again when it is there", NULL);
    queue_set_gone(&lane->queue);
    for (struct phase *phase = lane->phases.first; phase != NULL; phase = phase->next)
        phase_forget_waiting(phase);
    late_drop(&lane->late, NULL);
    for (int i = 0; i < ex->readers.count; i++) /* the queue's slots are deleted, too */
        if (ex->readers.list[i].lane == lane && ex->readers.list[i].count == 0)
            reader_leave_slot(&ex->readers.list[i]);
    stream_leave(&lane->stream);
}

static bool others_left(const struct lane *lane)
{
    for (int i = 0; i < lane->ex->options->queue_count; i++) {
        bool opened = i < lane->ex->lane_count;
        if (!opened || (&lane->ex->lanes[i] != lane && !lane->ex->lanes[i].queue.gone))
            return true;
    }
    return false;
}

bool lane_aside(const struct lane *lane)
{
    return lane->queue.gone || lane->ex->turn.now_us < lane_trouble(lane)->until_us;
}

/* A time that has passed is none: while the executor drains lane_is_well is not called, and control
 * would not sleep. */
int64_t lane_trouble_due_us(const struct lane *lane)
{
    const struct trouble *trouble = lane_trouble(lane);
    int64_t now_us = lane->ex->turn.now_us, due_us = trouble->until_us;
    if (due_us <= now_us)
        due_us += 1000LL * trouble->wait_ms + 1;
    return lane->queue.gone || due_us <= now_us ? 0 : due_us;
}

/* The heartbeat has one text for all queues, so it is cleared when no queue needs it. */
static void all_written(struct executor *ex)
{
    for (int i = 0; i < ex->lane_count; i++)
        if (lane_trouble(&ex->lanes[i])->unwritten)
            return;
    alive_trouble(ex->services.alive, ALIVE_WRITES, NULL);
}

enum rc lane_is_well(struct lane *lane, struct err *err)
{
    struct trouble *trouble = lane_trouble(lane);
    if (trouble->wait_ms == 0 ||
        lane->ex->turn.now_us <= trouble->until_us + 1000LL * trouble->wait_ms)
        return RC_OK;
    log_event(LOG_INFO, "queue_is_back", "queue", lane->queue.name, NULL);
    *trouble = (struct trouble){0};
    all_written(lane->ex);
    return db_run(
        lane->ex->control.db, &sql_executor_aside_end,
        (const char *const[]){DB_INT(lane->ex->incarnation.executor_no), DB_INT(lane->queue.id)},
        NULL, err);
}

void trouble_text(struct str *text, const struct err *err)
{
    str_format(text, "%s%s%s%s%s", err->object, *err->object ? ": " : "",
               sqlstate_lacks(err) ? err->code : "", sqlstate_lacks(err) ? ": " : "", err->message);
}

/* Writes the trouble where explain finds it. wait_ms 0: the queue is not set aside; this
 * incarnation ends. A server whose disk is full may have no space for that row either. The
 * heartbeat has the trouble then: it updates a row that exists, in a page that has room for it. */
static void note(const struct lane *lane, int wait_ms, const struct err *err)
{
    struct err ignored;
    STR_AUTO error = {0};
    trouble_text(&error, err);
    const char *params[] = {DB_INT(lane->ex->incarnation.executor_no), DB_INT(lane->queue.id),
                            wait_ms > 0 ? DB_INT(wait_ms) : NULL, error.data};
    if (lane->queue.id == 0)
        return;
    enum rc rc = db_run(lane->ex->control.db, &sql_executor_aside, params, NULL, &ignored);
    lane_trouble(lane)->unwritten = rc != RC_OK;
    if (rc == RC_OK) {
        all_written(lane->ex);
        return;
    }
    STR_AUTO trouble = {0};
    str_format(&trouble, "queue %s: %s", lane->queue.name, error.data);
    log_err(LOG_WARN, "trouble_not_noted", lane->queue.name, &ignored);
    alive_trouble(lane->ex->services.alive, ALIVE_WRITES, trouble.data);
}

void lane_note_locked(struct lane *lane, int wait_ms, const struct err *err)
{
    *lane_trouble(lane) =
        (struct trouble){.until_us = clock_boot_us(), .wait_ms = wait_ms, .locked = true};
    note(lane, wait_ms, err);
}

/* The statement failed because the queue was deleted, and control has not read its row since. */
static bool deleted(struct lane *lane, enum rc rc, const struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    struct err why;
    if (rc == RC_REJECT && lane->queue.id != 0)
        return queue_row(lane->ex->control.db, &lane->queue, &row, &why) == RC_FATAL &&
               why.kind == ERR_CONFIG;
    return rc == RC_FATAL && err->kind == ERR_CONFIG;
}

/* The next turn finds again all work of the failed statement. */
static void check_all_again(struct lane *lane)
{
    event_raise(lane, EVENT_STATEMENT_UNDONE);
    queue_set_stale(&lane->queue, true);
    notifications_repeat_requests(&lane->notifications);
}

static int last_ms(enum rc rc, const struct err *err)
{
    if (rc == RC_REJECT && !err->at_commit)
        return TROUBLE_LAST_MS;
    return sqlstate_lacks(err) ? LACKS_LAST_MS : LOCKED_LAST_MS;
}

enum rc lane_confine(struct lane *lane, enum rc rc, struct err *err)
{
    struct trouble *trouble = lane_trouble(lane);
    struct err ignored;
    /* The order: first whether the queue still exists, then whether the error belongs to this lane
     * alone, and only then the locks (executor/locks.h). */
    if (deleted(lane, rc, err) && others_left(lane)) {
        leave(lane);
        return RC_OK;
    }
    bool put_off = lane_put_off(rc, err);
    if (rc != RC_REJECT && !put_off)
        return rc;
    /* Several errors that come together, such as those of all gates, are one trouble. */
    bool further = lane_aside(lane);
    if (!further)
        trouble->wait_ms = backoff_next(trouble->wait_ms, TROUBLE_FIRST_MS, last_ms(rc, err));
    trouble->locked = false;
    if (lane->ex->options->queue_count == 1 && !put_off) { /* there is no other queue to work on */
        trouble->until_us = clock_boot_us();
        note(lane, 0, err);
        return rc;
    }
    if (!further) {
        trouble->until_us = clock_boot_us() + 1000LL * trouble->wait_ms;
        note(lane, trouble->wait_ms, err);
        log_err(LOG_ERROR, "queue_set_aside", lane->queue.name, err);
    }
    check_all_again(lane);
    if (locks_settle(lane->ex, &ignored) != RC_OK)
        return rc; /* the incarnation ends, and the queue stays aside in the next one */
    /* Other executors may not have this trouble. If these tasks cannot be returned either, late.c
     * keeps them, and returns them as soon as that succeeds. */
    if (!put_off && return_waiting(lane, -1, &ignored) != RC_OK)
        log_err(LOG_WARN, "tasks_not_returned", lane->queue.name, &ignored);
    return RC_OK;
}
