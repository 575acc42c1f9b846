/* Requests of operators to this executor: to stop tasks, to pause runs, to use fewer readers, to
 * end. The requests are in rows; notifications.c says when to read them. A running task is marked
 * as stopped and stays unfinished until its reader has ended it; otherwise the next phase could
 * start while its statement runs (tests/e2e/operator_race.sh). */
#include "executor/requests.h"

#include "executor/assignment.h"
#include "executor/event.h"
#include "executor/lane.h"
#include "executor/late.h"
#include "executor/measure.h"
#include "executor/names.h"
#include "executor/phase.h"
#include "executor/phases.h"
#include "executor/returning.h"
#include "executor/server.h"
#include "executor/signals.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/probe.h"
#include "db/db.h"
#include "reader/reader.h"
#include "reader/work.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOP_AGAIN_US (200 * 1000) /* a cancel between two statements of a task meets nothing */
#define STOP_GRACE_US                                                                              \
    (5 * 1000 * 1000) /* a task that ignores cancels for so long loses its session */

static int row_of(const struct db_result *rows, const struct work *work)
{
    for (int i = 0; i < db_rows(rows); i++)
        if (db_int(rows, i, CONTROL_STOPPED_TASK_ID) == work->task_id)
            return i;
    return -1;
}

static bool is_named(const struct work *work, const void *rows)
{
    return row_of(rows, work) >= 0;
}

/* Drops the cancelled tasks that are not started, and ends those that the operator left to their
 * executor. */
static enum rc drop_waiting(struct lane *lane, const struct db_result *rows, struct err *err)
{
    NAMES_AUTO names = {0};
    DB_RESULT_AUTO *row = NULL;
    struct works works = {0};
    names_start(&names);
    for (struct phase *phase = lane->phases.first; phase != NULL; phase = phase->next) {
        struct works taken = phase_take(phase, is_named, rows);
        for (struct work *work; (work = works_take(&taken)) != NULL;) {
            if (db_bool(rows, row_of(rows, work), CONTROL_STOPPED_GONE)) {
                work_free(work);
                continue;
            }
            names_add(&names, work);
            work_lost(work, LOSS_OWN);
            works_add(&works, work);
        }
    }
    if (names_end(&names) == 0)
        return RC_OK;
    enum rc rc =
        db_run(lane->ex->control.db, &sql_executor_lose,
               (const char *const[]){DB_INT(lane->queue.id), names.ids.data, names.tokens.data,
                                     "cancelled by an operator", "stopped"},
               &row, err);
    return late_settle(lane, &works, rc == RC_OK ? db_int(row, 0, EXECUTOR_LOSE_LOST) : 0, rc, err);
}

static void stop(struct assignment *at, int64_t now_us)
{
    if (at->stop_us == 0)
        at->stop_us = at->stop_again_us = now_us;
}

/* The question names every task in hand, waiting or running, because a notification does not say
 * which tasks an operator has ended. */
enum rc requests_check_stops(struct lane *lane, struct err *err)
{
    struct executor *ex = lane->ex;
    NAMES_AUTO names = {0};
    DB_RESULT_AUTO *rows = NULL;
    phases_doubt(&lane->phases, false);
    names_start(&names);
    for (struct phase *phase = lane->phases.first; phase != NULL; phase = phase->next)
        for (struct work *work = phase->waiting.first; work != NULL; work = work->next)
            names_add(&names, work);
    for (int i = 0; i < ex->readers.count; i++)
        for (const struct assignment *at = ex->readers.list[i].first; at != NULL; at = at->behind)
            if (at->lane == lane)
                names_add(&names, &at->work);
    if (names_end(&names) == 0)
        return RC_OK;
    probe("stop.ask");
    enum rc rc = db_run(ex->control.db, &sql_control_stopped,
                        (const char *const[]){names.ids.data, names.tokens.data}, &rows, err);
    probe("stop.answered");
    if (rc != RC_OK || db_rows(rows) == 0)
        return rc;
    for (int i = 0; i < ex->readers.count; i++)
        for (struct assignment *at = ex->readers.list[i].first; at != NULL; at = at->behind) {
            int row = at->lane == lane ? row_of(rows, &at->work) : -1;
            /* Only noted here. requests_interrupt() sends the cancel, again and again: one that
             * arrives between two statements of a task has no effect. */
            if (row < 0 || !db_bool(rows, row, CONTROL_STOPPED_STOP) || at->stopped)
                continue;
            at->stopped = true;
            stop(at, ex->turn.now_us);
            log_event(LOG_INFO, "task_stopping", "queue", lane->queue.name, "task",
                      LOG_INT(at->work.task_id), NULL);
        }
    return drop_waiting(lane, rows, err);
}

void requests_stop_running(struct readers *readers, int64_t now_us)
{
    for (int i = 0; i < readers->count; i++)
        if (readers->list[i].first != NULL)
            stop(readers->list[i].first, now_us);
}

static bool to_be_stopped(const struct assignment *first)
{
    return first != NULL && first->stop_us != 0 && !first->severed;
}

/* severed is set with the request that cuts the session off: no further request is sent for this
 * work. */
void requests_interrupt(struct readers *readers, int64_t now_us)
{
    for (int i = 0; i < readers->count; i++) {
        struct assignment *first = readers->list[i].first;
        if (!to_be_stopped(first) || now_us < first->stop_again_us)
            continue;
        bool sever = now_us - first->stop_us > STOP_GRACE_US;
        first->stop_again_us = now_us + STOP_AGAIN_US;
        probe("stop.send");
        first->severed = reader_interrupt(readers->list[i].thread, &first->work, sever);
    }
}

int64_t requests_due_us(const struct executor *ex)
{
    int64_t due_us = 0;
    for (int i = 0; i < ex->readers.count; i++)
        if (to_be_stopped(ex->readers.list[i].first))
            due_us = clock_earlier_us(due_us, ex->readers.list[i].first->stop_again_us);
    return due_us;
}

bool run_is_paused(const struct paused_runs *paused, const struct buffered *head)
{
    for (int i = 0; i < paused->count; i++)
        if (paused->runs[i].stops && strcmp(paused->runs[i].run_id, head->run) == 0)
            return true;
    return false;
}

/* A paused run starts nothing more; its running tasks end as usual. Tasks of it in hand are
 * returned, because this executor cannot know for how long the run is paused, and its measure would
 * be full of them. */
static enum rc read_paused(struct lane *lane, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = db_run(lane->ex->control.db, &sql_control_held,
                        (const char *const[]){DB_INT(lane->queue.id)}, &rows, err);
    if (rc != RC_OK)
        return rc;
    lane->paused.count = db_rows(rows);
    lane->paused.runs =
        xrealloc(lane->paused.runs, (size_t)lane->paused.count + 1, sizeof *lane->paused.runs);
    for (int i = 0; i < lane->paused.count; i++) { /* all, before a statement can fail */
        struct paused_run *run = &lane->paused.runs[i];
        run->run_no = db_int(rows, i, CONTROL_HELD_RUN_NO);
        (void)snprintf(run->run_id, sizeof run->run_id, "%s",
                       db_text(rows, i, CONTROL_HELD_RUN_ID));
        run->stops = db_bool(rows, i, CONTROL_HELD_STOPS);
    }
    for (int i = 0; rc == RC_OK && i < lane->paused.count; i++)
        rc = return_run(lane, lane->paused.runs[i].run_no, err);
    return rc;
}

/* Tasks in hand that fewer readers would reach late are returned, so that other executors run them;
 * with no reader left, all are returned. An error of one lane is not the error of the lane whose
 * requests are read. */
static enum rc use_readers(struct executor *ex, int readers, struct err *err)
{
    enum rc rc = RC_OK;
    if (readers == ex->readers.limit)
        return RC_OK;
    log_event(LOG_INFO, "readers_set", "readers", LOG_INT(readers), "of",
              LOG_INT(ex->readers.count), NULL);
    readers_use(&ex->readers, readers);
    for (int i = 0; rc == RC_OK && i < ex->lane_count; i++) {
        struct lane *lane = &ex->lanes[i];
        event_raise(lane, EVENT_READERS_CHANGED);
        rc = return_or_keep(lane, readers == 0 ? -1 : readers * lane_depth(lane), err);
    }
    return rc;
}

enum rc requests_read(struct lane *lane, struct err *err)
{
    struct executor *ex = lane->ex;
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = read_paused(lane, err);
    if (rc == RC_OK)
        rc = db_run(ex->control.db, &sql_control_mine,
                    (const char *const[]){DB_INT(ex->incarnation.executor_no)}, &row, err);
    if (rc != RC_OK)
        return rc;
    /* Each queue has a notification of it; a second signal would cancel what runs. */
    if (!db_null(row, 0, CONTROL_MINE_DRAIN_BY) && signals_stop() == 0) {
        log_event(LOG_INFO, "drain_asked", "by", db_text(row, 0, CONTROL_MINE_DRAIN_BY), NULL);
        (void)raise(SIGTERM); /* the same way from here on */
    }
    int most = ex->readers.count;
    return use_readers(ex,
                       db_null(row, 0, CONTROL_MINE_READERS_LIMIT) ||
                               db_int(row, 0, CONTROL_MINE_READERS_LIMIT) > most
                           ? most
                           : (int)db_int(row, 0, CONTROL_MINE_READERS_LIMIT),
                       err);
}
