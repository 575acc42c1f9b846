/* late: tasks that this executor wanted to return and could not, because another session holds
 * their rows or the row of their queue, or because the statement failed. They are returned as soon
 * as the statement succeeds. No other executor adopts them before that, because their rows name an
 * owner that lives. Only their phase waits, and this executor keeps S of the phase: a gate would
 * find the phase unfinished. */
#include "executor/late.h"

#include "executor/assignment.h"
#include "executor/event.h"
#include "executor/lane.h"
#include "executor/names.h"
#include "executor/phase.h"
#include "executor/record.h"
#include "executor/spare.h"

#include "base/backoff.h"
#include "base/log.h"
#include "base/probe.h"
#include "db/db.h"
#include "db/sqlstate.h"
#include "reader/work.h"

#include <stdlib.h>

/* Soon at first, because most often the completion of an attempt holds the row; rarely later,
 * because then a person does. */
#define AGAIN_FIRST_MS 20
#define AGAIN_LAST_MS  (5 * 1000)

/* 55P03 comes from lock_timeout, which control and gates have at 2 s (db/packet.c): the statement
 * was undone and the session is fine. */
bool lane_row_locked(enum rc rc, const struct err *err)
{
    return rc == RC_RETRY && sqlstate_is(err, SQLSTATE_LOCK_NOT_AVAILABLE);
}

bool lane_put_off(enum rc rc, const struct err *err)
{
    return lane_row_locked(rc, err) || (rc == RC_RETRY && sqlstate_lacks(err)) ||
           ((rc == RC_RETRY || rc == RC_REJECT) && err->at_commit);
}

/* The first delay of a list is the shortest; a list that already waits keeps its time, so that a
 * busy row is not asked for more often with each task. */
static void keep(struct lane *lane, struct work *work)
{
    struct late *late = &lane->late;
    works_add(&late->works, work);
    assignment_of(work)->phase->late++;
    if (late->wait_ms == 0) {
        late->wait_ms = AGAIN_FIRST_MS;
        late->at_us = lane->ex->turn.now_us + 1000LL * late->wait_ms;
    }
}

static bool named(const struct db_result *rows, const struct work *work)
{
    for (int i = 0; i < db_rows(rows); i++)
        if (db_int(rows, i, EXECUTOR_STILL_OURS_TASK_ID) == work->task_id)
            return true;
    return false;
}

static int name(struct names *names, const struct works *works)
{
    names_start(names);
    for (const struct work *work = works->first; work != NULL; work = work->next)
        names_add(names, work);
    return names_end(names);
}

/* The statements that return tasks skip rows that another session has locked, and answer with a
 * count. Only if the count is too small is the database asked which tasks are still this
 * executor's; the others have ended, or belong to another executor already. If either statement
 * fails, all are kept: a work that is returned for a second time is in no row with its token. */
enum rc late_settle(struct lane *lane, struct works *works, int64_t done, enum rc rc,
                    struct err *err)
{
    NAMES_AUTO names = {0};
    DB_RESULT_AUTO *rows = NULL;
    if (rc == RC_OK && name(&names, works) > done) {
        probe("late.ask");
        rc = db_run(lane->ex->control.db, &sql_executor_still_ours,
                    (const char *const[]){names.ids.data, names.tokens.data}, &rows, err);
    }
    for (struct work *work; (work = works_take(works)) != NULL;) {
        if (rc != RC_OK || (rows != NULL && named(rows, work)))
            keep(lane, work);
        else
            work_free(work);
    }
    return lane_put_off(rc, err) ? RC_OK : rc;
}

enum rc late_return(struct lane *lane, struct works *works, struct err *err)
{
    NAMES_AUTO names = {0};
    DB_RESULT_AUTO *row = NULL;
    (void)name(&names, works);
    enum rc rc =
        db_run(lane->ex->control.db, &sql_executor_give_back,
               (const char *const[]){DB_INT(lane->queue.id), names.ids.data, names.tokens.data},
               &row, err);
    int64_t returned = rc == RC_OK ? db_int(row, 0, EXECUTOR_GIVE_BACK_GIVEN) : 0;
    if (returned > 0)
        log_event(LOG_INFO, "tasks_returned", "queue", lane->queue.name, "tasks", LOG_INT(returned),
                  NULL);
    return late_settle(lane, works, returned, rc, err);
}

/* Lost attempts come last and only while no row is locked: each of them is a statement that may
 * wait for lock_timeout, and control stands still for these two seconds. */
enum rc late_send(struct lane *lane, struct err *err)
{
    struct late *late = &lane->late;
    struct works lost = {0}, unstarted = {0};
    if (late->works.first == NULL || lane->ex->turn.now_us < late->at_us)
        return RC_OK;
    for (struct work *work; (work = works_take(&late->works)) != NULL;) {
        works_add(work->end.outcome == OUTCOME_LOST ? &lost : &unstarted, work);
        assignment_of(work)->phase->late--;
    }
    event_raise(lane, EVENT_WORK_UNOWNED);
    enum rc rc = unstarted.first != NULL ? late_return(lane, &unstarted, err) : RC_OK;
    for (struct work *work; (work = works_take(&lost)) != NULL;) {
        if (rc == RC_OK && late->works.first == NULL)
            rc = record_lost(lane, work, err);
        else /* the first one that is delayed shows that the rows are still locked */
            keep(lane, work);
    }
    late->wait_ms =
        late->works.first != NULL ? backoff_next(late->wait_ms, AGAIN_FIRST_MS, AGAIN_LAST_MS) : 0;
    late->at_us = lane->ex->turn.now_us + 1000LL * late->wait_ms;
    return rc;
}

/* A draining executor waits for these: their rows name it as their owner until they are
 * returned. */
bool late_any(const struct executor *ex)
{
    for (int i = 0; i < ex->lane_count; i++)
        if (ex->lanes[i].late.works.first != NULL)
            return true;
    return false;
}

void late_drop(struct late *late, struct spared *spared)
{
    for (struct work *work; (work = works_take(&late->works)) != NULL;) {
        assignment_of(work)->phase->late--;
        if (spared != NULL)
            spare_note(spared, work);
        work_free(work);
    }
    *late = (struct late){0};
}

int64_t late_due_us(const struct lane *lane)
{
    return lane->late.wait_ms != 0 ? lane->late.at_us : 0;
}
