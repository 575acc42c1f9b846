/* Is everything done? For --until-idle. At the end of the topic with no phase in hand is not
 * enough: other executors may have tasks, and a task may wait for its next attempt. So idle() asks
 * the database last, and rarely, because the question reads all unfinished tasks of the queue. */
#include "executor/idle.h"

#include "executor/ends.h"
#include "executor/executor.h"
#include "executor/gate.h"
#include "executor/lane.h"
#include "executor/phase.h"
#include "executor/trouble.h"

#include "base/log.h"
#include "base/remedies.h"
#include "db/db.h"

#include <stdio.h>

#define IDLE_ASK_US (200 * 1000)

/* An operator has to act, and may not know. */
static void log_waiting(struct lane *lane)
{
    const char *why = lane->queue.paused             ? "the queue is paused"
                      : lane->queue.max_readers == 0 ? "max_readers of the queue is 0"
                      : lane->paused.count > 0       ? "a run of the queue is held"
                                                     : NULL;
    if (why != NULL && !lane->idling.logged)
        log_event(LOG_WARN, "idle_waits", "queue", lane->queue.name, "reason", why, NULL);
    lane->idling.logged = why != NULL;
}

static enum rc halted(const struct lane *lane, struct err *err)
{
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_EXPLAIN, lane->queue.name);
    return err_set(err, RC_FATAL, ERR_FAILED, lane->queue.name, hint, "the queue is halted");
}

/* Of any lane, and not only to be opened by us: orphans are asked for in the database
 * (executor_unfinished). */
static bool phases_owned(const struct executor *ex)
{
    for (int i = 0; i < ex->lane_count; i++)
        for (const struct phase *phase = ex->lanes[i].phases.first;
             phase != NULL && !ex->lanes[i].queue.gone; phase = phase->next)
            if (!phase->unowned || phase->waiting.count > 0 || phase->running > 0)
                return true;
    return false;
}

int64_t idle_due_us(const struct executor *ex)
{
    return ex->options->until_idle && !phases_owned(ex) ? ex->turn.now_us + IDLE_ASK_US : 0;
}

/* The first loop costs no statement, so it decides most turns. It cannot see tasks of other
 * executors, nor tasks that wait for their next attempt; the database can. */
enum rc idle(struct executor *ex, bool *ret_idle, struct err *err)
{
    *ret_idle = false;
    for (int i = 0; i < ex->lane_count; i++) {
        struct lane *lane = &ex->lanes[i];
        if (lane->queue.gone)
            continue;
        if (lane_aside(lane))
            return RC_OK;
        if (lane->queue.halted)
            return halted(lane, err);
        if (!stream_at_end(&lane->stream))
            log_waiting(lane);
        if (!stream_at_end(&lane->stream) || !identity_known(&lane->identity) ||
            ex->turn.now_us - lane->idling.asked_us < IDLE_ASK_US)
            return RC_OK;
    }
    if (phases_owned(ex))
        return RC_OK;
    for (int i = 0; i < ex->lane_count; i++) {
        DB_RESULT_AUTO *row = NULL;
        struct lane *lane = &ex->lanes[i];
        if (lane->queue.gone)
            continue;
        lane->idling.asked_us = ex->turn.now_us;
        enum rc rc = db_run(ex->control.db, &sql_executor_unfinished,
                            (const char *const[]){DB_INT(lane->queue.id)}, &row, err);
        if (rc == RC_OK && db_bool(row, 0, EXECUTOR_UNFINISHED_UNFINISHED))
            log_waiting(lane);
        if (rc != RC_OK || db_bool(row, 0, EXECUTOR_UNFINISHED_UNFINISHED))
            return rc;
    }
    /* A run may have ended in a phase that another executor opened, or whose gate has not answered
     * yet. */
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && i < ex->lane_count; i++) {
        struct lane *lane = &ex->lanes[i];
        if (lane->queue.gone)
            continue;
        rc = openings_flush(&lane->gates.openings, lane->ex->control.db,
                            lane->ex->incarnation.executor_no, err);
        rc = lane_confine(lane, rc == RC_OK ? ends_record(lane, err) : rc, err);
        if (rc == RC_OK && lane_aside(lane))
            return RC_OK;
    }
    /* Work that is reported as done must still be done after a crash of the server. */
    if (rc == RC_OK)
        rc = db_run(ex->control.db, &sql_session_flush, NULL, NULL, err);
    *ret_idle = rc == RC_OK;
    return rc;
}
