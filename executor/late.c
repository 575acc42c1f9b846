/* late: tasks that this executor does not have in hand any more and that the database still calls
 * its own, because another session has locked their rows, or the row of their queue: they are
 * returned as soon as that is possible. Nothing waits for it but the phase that they are of, whose
 * S is kept: its gate would find it unfinished, with an owner who lives. */
#include "executor/late.h"

#include "executor/event.h"
#include "executor/lane.h"
#include "executor/names.h"
#include "executor/phase.h"
#include "executor/record.h"
#include "executor/spare.h"

#include "base/backoff.h"
#include "base/log.h"
#include "db/sqlstate.h"

#include <stdlib.h>

#define AGAIN_FIRST_MS 20
#define AGAIN_LAST_MS  (5 * 1000)

bool lane_row_held(enum rc rc, const struct err *err)
{
    return rc == RC_RETRY && sqlstate_is(err, SQLSTATE_LOCK_NOT_AVAILABLE);
}

static void keep(struct lane *lane, struct work *work)
{
    struct late *late = &lane->late;
    struct work **at = &late->first;
    while (*at != NULL)
        at = &(*at)->next;
    work->next = NULL;
    *at = work;
    work->phase->late++;
    if (late->wait_ms == 0) {
        late->wait_ms = AGAIN_FIRST_MS;
        late->at_us = lane->ex->now_us + 1000LL * late->wait_ms;
    }
}

static bool named(const struct db_result *rows, const struct work *work)
{
    for (int i = 0; i < db_rows(rows); i++)
        if (db_int(rows, i, EXECUTOR_STILL_OURS_TASK_ID) == work->task_id)
            return true;
    return false;
}

static int name(struct executor *ex, const struct work *works)
{
    names_start(ex);
    for (const struct work *work = works; work != NULL; work = work->next)
        names_add(ex, work);
    return names_end(ex);
}

enum rc late_settle(struct lane *lane, struct work *works, int64_t done, enum rc rc,
                    struct err *err)
{
    const struct str *s = lane->ex->scratch;
    DB_RESULT_AUTO *rows = NULL;
    bool all = lane_row_held(rc, err);
    if (all)
        rc = RC_OK;
    else if (rc == RC_OK && name(lane->ex, works) > done)
        rc = db_run(lane->ex->control, &sql_executor_still_ours,
                    (const char *const[]){s[0].data, s[1].data}, &rows, err);
    for (struct work *work = works, *next; work != NULL; work = next) {
        next = work->next;
        if (all || (rows != NULL && named(rows, work)))
            keep(lane, work);
        else
            work_free(work);
    }
    return rc;
}

enum rc late_return(struct lane *lane, struct work *works, struct err *err)
{
    const struct str *s = lane->ex->scratch;
    DB_RESULT_AUTO *row = NULL;
    (void)name(lane->ex, works);
    enum rc rc =
        db_run(lane->ex->control, &sql_executor_give_back,
               (const char *const[]){DB_INT(lane->queue_id), s[0].data, s[1].data}, &row, err);
    int64_t given = rc == RC_OK ? db_int(row, 0, EXECUTOR_GIVE_BACK_GIVEN) : 0;
    if (given > 0)
        log_event(LOG_INFO, "tasks_returned", "queue", lane->name, "tasks", LOG_INT(given), NULL);
    return late_settle(lane, works, given, rc, err);
}

enum rc late_send(struct lane *lane, struct err *err)
{
    struct late *late = &lane->late;
    struct work *lost = NULL, *unstarted = NULL, **at;
    if (late->first == NULL || lane->ex->now_us < late->at_us)
        return RC_OK;
    for (struct work *work = late->first, *next; work != NULL; work = next) {
        next = work->next;
        at = work->outcome == OUTCOME_LOST ? &lost : &unstarted;
        work->next = *at;
        *at = work;
        work->phase->late--;
    }
    late->first = NULL;
    event_tell(lane, EVENT_WORK_UNOWNED);
    enum rc rc = unstarted != NULL ? late_return(lane, unstarted, err) : RC_OK;
    for (struct work *work = lost, *next; work != NULL; work = next) {
        next = work->next;
        work->next = NULL;
        if (rc == RC_OK && late->first == NULL)
            rc = record_lost(lane, work, err);
        else /* one that is held is enough to wait for at a time */
            keep(lane, work);
    }
    late->wait_ms =
        late->first != NULL ? backoff_next(late->wait_ms, AGAIN_FIRST_MS, AGAIN_LAST_MS) : 0;
    late->at_us = lane->ex->now_us + 1000LL * late->wait_ms;
    return rc;
}

bool late_any(const struct executor *ex)
{
    for (int i = 0; i < ex->lane_count; i++)
        if (ex->lanes[i].late.first != NULL)
            return true;
    return false;
}

void late_drop(struct lane *lane, bool spared)
{
    for (struct work *work = lane->late.first, *next; work != NULL; work = next) {
        next = work->next;
        work->phase->late--;
        if (spared)
            spare_note(lane->ex, work);
        work_free(work);
    }
    lane->late = (struct late){0};
}

int64_t late_due_us(const struct lane *lane)
{
    return lane->late.wait_ms != 0 ? lane->late.at_us : 0;
}
